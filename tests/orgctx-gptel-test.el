;;; orgctx-gptel-test.el --- Tests of orgctx-gptel.el  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The program is the real one; the package gptel is tests/gptel/gptel.el.

;;; Code:

(load (expand-file-name "orgctx-test" (file-name-directory load-file-name)) nil t)
(ert-delete-all-tests)
(require 'gptel)
(require 'orgctx-gptel)

(defmacro orgctx-gptel-test-in (&rest body)
  "Run BODY at the target of a note, with nothing added to requests."
  `(orgctx-test-in "note.org" orgctx-test-text
     (let ((orgctx-gptel--queries nil)
           (gptel-prompt-transform-functions '(orgctx-gptel-context)))
       ,@body)))

(defun orgctx-gptel-test-sent (prompt)
  "Return what is sent when PROMPT is, from this buffer."
  (let (sent)
    (orgctx-test-do
     (gptel-test-prompt prompt (lambda (text) (push text sent))))
    (should (= (length sent) 1))
    (substring-no-properties (car sent))))

(ert-deftest orgctx-gptel-test-a-request-from-a-note-shows-its-node ()
  (orgctx-gptel-test-in
   (let ((view (orgctx-focus-string)))
     (should (equal (orgctx-gptel-test-sent "Why?\n")
                    (concat view "\nWhy?\n")))
     (orgctx-test-insert-at "target text: " "unsaved ")
     (should (string-match-p "^target text: unsaved "
                             (orgctx-gptel-test-sent "Why?"))))))

(ert-deftest orgctx-gptel-test-a-chat-shows-what-was-added ()
  (orgctx-gptel-test-in
   (let ((target (orgctx-focus-string))
         (last (progn (orgctx-test-do (orgctx-gptel-add))
                      (goto-char (point-max))
                      (orgctx-focus-string))))
     (should (equal (orgctx-test-do (orgctx-gptel-add))
                    "Requests show 2 Org nodes"))
     (with-temp-buffer
       (let ((sent (orgctx-gptel-test-sent
                    (concat "First?\n" (propertize "Yes.\n" 'gptel 'response)
                            "And then?"))))
         (should (equal sent (concat "First?\nYes.\n" target "\n" last "\n"
                                     "And then?"))))
       (orgctx-test-do (orgctx-gptel-add t))
       (should (equal (orgctx-gptel-test-sent "Alone?") "Alone?"))))))

(ert-deftest orgctx-gptel-test-what-cannot-be-shown-is-told ()
  (orgctx-gptel-test-in
   (let ((orgctx-budget 1) (said nil))
     (orgctx-gptel-add)
     (cl-letf (((symbol-function 'orgctx--complain)
                (lambda (problem) (push problem said))))
       (should (equal (orgctx-gptel-test-sent "Why?") "Why?")))
     (should (equal (mapcar #'car said) '("BudgetTooSmall"))))))

(ert-deftest orgctx-gptel-test-what-was-added-outlives-its-buffer ()
  (orgctx-gptel-test-in
   (let ((view (orgctx-focus-string)))
     (orgctx-test-do (orgctx-gptel-add))
     (kill-buffer)
     (with-temp-buffer
       (should (equal (orgctx-gptel-test-sent "Why?")
                      (concat view "\nWhy?")))))))

(defun orgctx-gptel-test-call (name &rest arguments)
  "Return the text that the tool NAME gives for ARGUMENTS."
  (let ((tool (cdr (assoc name (alist-get "orgctx" gptel--known-tools
                                          nil nil #'equal))))
        (given nil))
    (should (gptel-tool-async tool))
    (orgctx-test-do
     (apply (gptel-tool-function tool) (lambda (text) (push text given))
            arguments))
    (should (= (length given) 1))
    (car given)))

(ert-deftest orgctx-gptel-test-tools-answer ()
  (orgctx-gptel-test-in
   (let ((orgctx-roots (list folder)))
     (should (equal (mapcar #'gptel-tool-name (orgctx-gptel-tools))
                    '("orgctx_context" "orgctx_focus" "orgctx_overview"
                      "orgctx_ls" "orgctx_grep" "orgctx_read"
                      "orgctx_status")))
     (should (string-match-p "^note.org::After — "
                             (orgctx-gptel-test-call "orgctx_ls" "note.org")))
     (should (string-match-p " — 1 file, 4 headlines"
                             (orgctx-gptel-test-call "orgctx_ls")))
     (should (string-match-p "^ +9: target text: naïve"
                             (orgctx-gptel-test-call "orgctx_grep" "naïve")))
     (should (string-match-p "^ +9: target text: naïve"
                             (orgctx-gptel-test-call "orgctx_grep" "NAÏVE" nil
                                                     :json-false t)))
     (should (string-match-p "^child text$"
                             (orgctx-gptel-test-call
                              "orgctx_focus" ["note.org:11"] nil nil 300)))
     (should (string-match-p "^11: child text$"
                             (orgctx-gptel-test-call
                              "orgctx_read" "note.org:11")))
     (should (string-match-p "Context bundle: child text"
                             (orgctx-gptel-test-call
                              "orgctx_context" "child text"))))))

(ert-deftest orgctx-gptel-test-tools-take-null-and-much-text ()
  (orgctx-gptel-test-in
   (let ((orgctx-roots (list folder)))
     (orgctx-gptel-tools)
     (should (string-match-p "^11: child text$"
                             (orgctx-gptel-test-call
                              "orgctx_read" "note.org:11" :null :null :null)))
     (should (string-prefix-p "{\"error\":\"NotFound\""
                              (orgctx-gptel-test-call
                               "orgctx_read"
                               (concat (make-string 300000 ?a) ".org")))))))

(ert-deftest orgctx-gptel-test-tools-tell-errors-as-text ()
  (orgctx-gptel-test-in
   (let ((orgctx-roots (list folder)))
     (orgctx-gptel-tools)
     (pcase-dolist (`(,kind ,tool . ,values)
                    '(("NotFound" "orgctx_read" "x.org:1")
                      ("BudgetTooSmall" "orgctx_focus" ["note.org:11"] nil nil 1)
                      ("OutsideRoot" "orgctx_read" "/etc/notes.org")
                      ("BadArgument" "orgctx_read")))
       (should (string-prefix-p
                (format "{\"error\":\"%s\"" kind)
                (apply #'orgctx-gptel-test-call tool values)))))))

(ert-deftest orgctx-gptel-test-tools-need-roots ()
  (let ((orgctx-roots nil))
    (should-error (orgctx-gptel-tools) :type 'user-error)))

(ert-deftest orgctx-gptel-test-tools-are-described ()
  (orgctx-gptel-test-in
   (let ((orgctx-roots (list folder)))
     (dolist (tool (orgctx-gptel-tools))
       (should (> (length (gptel-tool-description tool)) 20))
       (dolist (argument (gptel-tool-args tool))
         (should (stringp (plist-get argument :name)))
         (should (stringp (plist-get argument :description)))
         (should (memq (plist-get argument :type)
                       '(string integer boolean array)))
         (should (eq (null (plist-get argument :items))
                     (not (eq (plist-get argument :type) 'array))))
         (should (eq (null (plist-get argument :optional))
                     (and (member (plist-get argument :name)
                                  '("query" "addresses" "address"))
                          (not (equal (gptel-tool-name tool)
                                      "orgctx_overview"))
                          t))))))))

(provide 'orgctx-gptel-test)
;;; orgctx-gptel-test.el ends here
