;;; orgctx-test.el --- Tests of orgctx.el with the real program  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; ORGCTX_PROGRAM=/path/to/orgctx \
;;   emacs -Q --batch -L orgctx/surfaces/emacs -l ert -l tests/orgctx-test.el \
;;   -f ert-run-tests-batch-and-exit

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'orgctx)
(require 'orgctx-list)
(require 'orgctx-menu)
(require 'orgctx-view)
(require 'orgctx-work)
(require 'tramp)

(defconst orgctx-test-program
  (or (getenv "ORGCTX_PROGRAM") (error "Set ORGCTX_PROGRAM to the program"))
  "The real program: one path, which may have spaces.")

(defconst orgctx-test-text "#+title: Notes
text above all
* Before
:PROPERTIES:
:ID: 11111111-2222-4333-8444-555555555555
:END:
before text
* TODO Target of [[https://example.org][some link]] :tag:
target text: naïve café, 日本
** Child
child text
* After
after text
"
  "A file with a target that has siblings on both sides.")

(defconst orgctx-test-view-name "*orgctx: Target of some link*"
  "The name of the target's view.")

(defun orgctx-test-views ()
  "Return the buffers that orgctx opened."
  (cl-remove-if-not (lambda (buffer)
                      (string-prefix-p "*orgctx" (buffer-name buffer)))
                    (buffer-list)))

(defun orgctx-test-running ()
  "Return the processes of the program."
  (cl-remove-if-not (lambda (process)
                      (string-prefix-p "orgctx" (process-name process)))
                    (process-list)))

(defun orgctx-test-wait ()
  "Wait until the program has answered."
  (with-timeout (300 (error "The program does not end"))
    (while (orgctx-test-running)
      (accept-process-output nil 0.02))))

(defmacro orgctx-test-do (&rest body)
  "Run BODY, wait for the program, and return what the echo area said last."
  `(let ((said nil))
     (cl-letf (((symbol-function 'message)
                (lambda (form &rest words)
                  (when form
                    (setq said (apply #'format form words))))))
       ,@body
       (orgctx-test-wait))
     said))

(defun orgctx-test-keys (keys)
  "Do what KEYS do in this buffer, and wait for the program.
Return what the echo area said last."
  (pop-to-buffer-same-window (current-buffer))
  (prog1 (orgctx-test-do (call-interactively (key-binding (kbd keys))))
    (set-buffer (window-buffer))))

(defmacro orgctx-test-shown (&rest body)
  "Run BODY and go to the one buffer that orgctx shows then."
  `(progn
     (let ((said (orgctx-test-do ,@body)))
       (unless (orgctx-test-views)
         (ert-fail (list "Nothing is shown" said))))
     (set-buffer (window-buffer))
     (should (memq (current-buffer) (orgctx-test-views)))))

(defun orgctx-test-bytes (file)
  "Return the bytes of FILE."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally file)
    (buffer-string)))

(defun orgctx-test-clean (folder)
  "Delete FOLDER, the buffers that visit its files, and all views."
  (dolist (buffer (buffer-list))
    (when (or (memq buffer (orgctx-test-views))
              (string-prefix-p folder (or (buffer-file-name buffer) "")))
      (with-current-buffer buffer
        (set-buffer-modified-p nil))
      (kill-buffer buffer)))
  (delete-directory folder t))

(defmacro orgctx-test-in (name text &rest body)
  "Run BODY in a buffer that visits a new file NAME with TEXT, at its target.
The variable `folder' is the file's folder."
  (declare (indent 2))
  `(let ((folder (file-name-as-directory (make-temp-file "orgctx test" t)))
         (orgctx-program orgctx-test-program)
         (make-backup-files nil)
         (create-lockfiles nil)
         (kill-ring nil)
         (inhibit-message t))
     (unwind-protect
         (save-window-excursion
           (let ((coding-system-for-write 'utf-8-unix))
             (write-region ,text nil (concat folder ,name)))
           (with-current-buffer (find-file-noselect (concat folder ,name))
             (goto-char (point-min))
             (search-forward "target text" nil t)
             ,@body))
       (orgctx-test-clean folder))))

(defmacro orgctx-test-complaint (&rest body)
  "Return what BODY complains of; nothing may open."
  `(let ((message
          (condition-case problem
              (orgctx-test-do ,@body)
            (orgctx-error (orgctx-explain (cdr problem)))
            (user-error (cadr problem)))))
     (should-not (orgctx-test-views))
     message))

(defmacro orgctx-test-answering (answers &rest body)
  "Run BODY with ANSWERS to what it asks in the minibuffer, one after another."
  (declare (indent 1))
  `(let ((answers ,answers))
     (cl-letf* (((symbol-function 'read-from-minibuffer)
                 (lambda (&rest _) (pop answers)))
                ((symbol-function 'read-string)
                 (symbol-function 'read-from-minibuffer))
                ((symbol-function 'read-number)
                 (symbol-function 'read-from-minibuffer))
                ((symbol-function 'read-buffer)
                 (symbol-function 'read-from-minibuffer))
                ((symbol-function 'completing-read)
                 (symbol-function 'read-from-minibuffer)))
       (prog1 (progn ,@body)
         (should-not answers)))))

(defun orgctx-test-insert-at (text new)
  "Insert NEW behind TEXT in this buffer, and save nothing."
  (save-excursion
    (goto-char (point-min))
    (search-forward text)
    (insert new)))

(defun orgctx-test-at (text)
  "Go to the beginning of the line with TEXT."
  (goto-char (point-min))
  (search-forward text)
  (goto-char (line-beginning-position)))

(defun orgctx-test-should-be-target (text)
  "Check that TEXT is the view of the target: it in full, its siblings' titles."
  (should (string-match-p "\\`#" text))
  (should (string-match-p "^\\* TODO Target of " text))
  (should (string-match-p "^target text: naïve café, 日本$" text))
  (should (string-match-p "^\\* Before$" text))
  (should (string-match-p "^\\* After$" text))
  (should-not (string-match-p "before text\\|after text" text)))

;;; The string

(ert-deftest orgctx-test-string-is-the-view-of-the-node-at-point ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-should-be-target (orgctx-focus-string))
    (search-backward "* TODO Target")
    (orgctx-test-should-be-target (orgctx-focus-string))
    (should-not (orgctx-test-views))))

(ert-deftest orgctx-test-first-and-last-position ()
  (orgctx-test-in "note.org" orgctx-test-text
    (goto-char (point-min))
    (should (string-match-p "^text above all$" (orgctx-focus-string)))
    (goto-char (point-max))
    (should (bolp))
    (should (string-match-p "^after text$" (orgctx-focus-string)))))

(ert-deftest orgctx-test-names-are-never-interpreted ()
  (dolist (name '("two  words, it's \"quoted\".org"
                  "$(touch x) `touch x` $HOME.org"
                  "a;touch x;b|touch x&.org"
                  "café 日本.org"
                  "-n.org"
                  "--help.org"
                  "~%s*?[a]\\.org"
                  "10:30 a::b.org"
                  "new\nline.org"))
    (ert-info (name :prefix "name: ")
      (orgctx-test-in name orgctx-test-text
        (orgctx-test-should-be-target (orgctx-focus-string))
        (should (equal (directory-files folder nil
                                        directory-files-no-dot-files-regexp)
                       (list name)))))))

(ert-deftest orgctx-test-names-are-encoded-as-file-names ()
  (orgctx-test-in "café 日本.org" orgctx-test-text
    (let ((file-name-coding-system 'utf-8-unix)
          (default-process-coding-system '(latin-1-unix . latin-1-unix)))
      (orgctx-test-should-be-target (orgctx-focus-string)))))

(ert-deftest orgctx-test-name-that-is-not-utf-8 ()
  (orgctx-test-in "caf\351 \\udcff.org" orgctx-test-text
    (orgctx-test-shown (orgctx-focus))
    (orgctx-test-at "* After")
    (orgctx-test-keys "RET")
    (should (equal buffer-file-name (concat folder "caf\351 \\udcff.org")))
    (should (looking-at-p "\\* After$"))))

(ert-deftest orgctx-test-text-with-nul ()
  (orgctx-test-in "note.org" (string-replace "naïve" "\0\\u0000 🙂\1"
                                             orgctx-test-text)
    (orgctx-test-shown (orgctx-focus))
    (should (string-match-p "^target text: \0\\\\u0000 🙂\1 café"
                            (buffer-string)))))

(ert-deftest orgctx-test-quoted-file-name ()
  (orgctx-test-in "note.org" orgctx-test-text
    (setq buffer-file-name (file-name-quote buffer-file-name))
    (orgctx-test-should-be-target (orgctx-focus-string))))

(ert-deftest orgctx-test-current-folder-does-not-matter ()
  (orgctx-test-in "note.org" orgctx-test-text
    (setq default-directory "/no such folder/")
    (orgctx-test-should-be-target (orgctx-focus-string))))

(ert-deftest orgctx-test-line-is-counted-in-the-whole-file ()
  (orgctx-test-in "note.org" orgctx-test-text
    (narrow-to-region (line-beginning-position) (line-end-position))
    (orgctx-test-should-be-target (orgctx-focus-string))
    (should (buffer-narrowed-p))))

(ert-deftest orgctx-test-indirect-buffer ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((place (point)))
      (goto-char (point-max))
      (narrow-to-region (point) (point))
      (with-current-buffer (make-indirect-buffer (current-buffer) "indirect" t)
        (widen)
        (goto-char place)
        (org-narrow-to-subtree)
        (orgctx-test-should-be-target (orgctx-focus-string))
        (orgctx-test-shown (orgctx-focus))
        (should (get-buffer orgctx-test-view-name))))))

(ert-deftest orgctx-test-line-ends-are-unchanged ()
  (orgctx-test-in "note.org" (string-replace "\n" "\r\n" orgctx-test-text)
    (let ((text (orgctx-focus-string)))
      (should (string-match-p "^target text: naïve café, 日本\r\n" text))
      (should-not (string-match-p "\r\r" text)))
    (orgctx-test-shown (orgctx-focus))
    (should (string-match-p "naïve café, 日本\r\n" (buffer-string)))))

(ert-deftest orgctx-test-file-is-not-changed ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((bytes (orgctx-test-bytes buffer-file-name))
          (time (file-attribute-modification-time
                 (file-attributes buffer-file-name)))
          (tick (buffer-modified-tick)))
      (orgctx-test-do (orgctx-focus))
      (set-buffer (get-file-buffer (concat folder "note.org")))
      (orgctx-test-do (orgctx-focus-copy))
      (should (equal bytes (orgctx-test-bytes buffer-file-name)))
      (should (equal time (file-attribute-modification-time
                           (file-attributes buffer-file-name))))
      (should (= tick (buffer-modified-tick)))
      (should-not (buffer-modified-p))
      (should (equal (directory-files folder nil "[^.]") '("note.org"))))))

;;; Options

(ert-deftest orgctx-test-budget ()
  (orgctx-test-in "note.org" (concat orgctx-test-text
                                     (apply #'concat (make-list 300 "* More\n")))
    (let ((large (orgctx-focus-string))
          (small (let ((orgctx-budget 300)) (orgctx-focus-string))))
      (should (< (length small) (length large)))
      (orgctx-test-should-be-target small))))

(ert-deftest orgctx-test-ids ()
  (orgctx-test-in "note.org" orgctx-test-text
    (cl-flet ((id (how)
                (let* ((orgctx-ids how) (text (orgctx-focus-string)))
                  (and (string-match ":ID: +\\(.*\\)" text)
                       (match-string 1 text)))))
      (should (equal (id 'full) "11111111-2222-4333-8444-555555555555"))
      (should (equal (id 'short) "11111111"))
      (should-not (id 'none)))))

(ert-deftest orgctx-test-roots ()
  (orgctx-test-in "note.org" orgctx-test-text
    (make-directory (concat folder "-other root"))
    (let ((orgctx-roots (list folder (concat folder "-other root"))))
      (orgctx-test-should-be-target (orgctx-focus-string)))
    (let ((orgctx-roots (list (concat folder "-other root"))))
      (should (string-prefix-p "NotFound: "
                               (orgctx-test-complaint (orgctx-focus)))))))

(ert-deftest orgctx-test-program-with-leading-arguments ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((orgctx-program (list "env" "A=$(touch x) ;" orgctx-test-program)))
      (orgctx-test-should-be-target (orgctx-focus-string))
      (should-not (file-exists-p (concat folder "x"))))))

;;; The view

(ert-deftest orgctx-test-view-is-a-read-only-org-buffer ()
  (orgctx-test-in "note.org" orgctx-test-text
    (with-current-buffer (get-buffer-create orgctx-test-view-name)
      (setq default-directory "/")
      (insert "an earlier view"))
    (let ((text (orgctx-focus-string)))
      (orgctx-test-shown (call-interactively #'orgctx-focus))
      (should (equal (buffer-name) orgctx-test-view-name))
      (should (equal (buffer-string) text))
      (should (= (point) (point-min)))
      (should (derived-mode-p 'org-mode))
      (should buffer-read-only)
      (should-not view-mode)
      (should-not buffer-file-name)
      (should-not (buffer-modified-p))
      (should (equal default-directory folder))
      (should-not kill-ring))))

(ert-deftest orgctx-test-focus-does-not-wait ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-focus)
    (should (orgctx-test-running))
    (should-not (orgctx-test-views))
    (orgctx-test-wait)
    (should (orgctx-test-views))))

(ert-deftest orgctx-test-view-above-all-headlines-is-named-after-the-file ()
  (orgctx-test-in "note.org" orgctx-test-text
    (goto-char (point-min))
    (orgctx-test-shown (orgctx-focus))
    (should (equal (buffer-name) "*orgctx: note.org*"))))

(ert-deftest orgctx-test-header-line-shows-what-it-costs ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-shown (orgctx-focus))
    (let ((tokens (alist-get 'tokens orgctx--view)))
      (should (< 50 tokens 200))
      (should (string-match-p (format "^ %d/4000 tokens  foveal  5 nodes" tokens)
                              (orgctx--header))))))

(ert-deftest orgctx-test-prefix-argument-asks-for-budget-and-lens ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((current-prefix-arg '(4)))
      (orgctx-test-answering '(500 "fisheye")
        (orgctx-test-shown (call-interactively #'orgctx-focus))))
    (should (string-match-p "/500 tokens  fisheye" (orgctx--header)))
    (should (string-match-p "^before text$" (buffer-string)))))

(ert-deftest orgctx-test-view-refreshes-and-quits ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-shown (orgctx-focus))
    (with-current-buffer (get-file-buffer (concat folder "note.org"))
      (orgctx-test-insert-at "#+title: Notes" "\n#+author: me")
      (orgctx-test-insert-at "target text: " "now changed, ")
      (save-buffer))
    (orgctx-test-at "** Child")
    (orgctx-test-keys "g")
    (should (equal (buffer-name) orgctx-test-view-name))
    (should (string-match-p "^target text: now changed, " (buffer-string)))
    (should (looking-at-p "\\*\\* Child"))
    (should buffer-read-only)
    (should (eq (key-binding "q") #'quit-window))))

(ert-deftest orgctx-test-view-stays-when-it-cannot-be-refreshed ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-shown (orgctx-focus))
    (let ((text (buffer-string))
          (orgctx-program "orgctx no such program"))
      (should (string-prefix-p "NotInstalled: " (orgctx-test-keys "g")))
      (should (equal (buffer-string) text)))))

(ert-deftest orgctx-test-view-outlives-the-buffer-of-its-note ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-shown (orgctx-focus))
    (kill-buffer (get-file-buffer (concat folder "note.org")))
    (let ((text (buffer-string)))
      (orgctx-test-keys "g")
      (should (equal (buffer-string) text))
      (should (get-file-buffer (concat folder "note.org"))))))

(defvar orgctx-test-evaluated nil
  "What the text of a note or a hook managed to evaluate.")

(ert-deftest orgctx-test-view-evaluates-nothing ()
  (orgctx-test-in "note.org" "# -*- eval: (push 1 orgctx-test-evaluated) -*-
#+STARTUP: inlineimages latexpreview indent
* Target
target text src_emacs-lisp{(push 2 orgctx-test-evaluated)}
# Local Variables:
# eval: (push 3 orgctx-test-evaluated)
# End:
"
    (let ((enable-local-variables :all)
          (enable-local-eval t)
          (org-confirm-babel-evaluate nil)
          (org-mode-hook (list (lambda () (push 4 orgctx-test-evaluated)))))
      (setq orgctx-test-evaluated nil)
      (orgctx-test-shown (orgctx-focus))
      (should (string-match-p "push 3" (buffer-string)))
      (orgctx-test-keys "g")
      (should-not (bound-and-true-p org-indent-mode))
      (should-not orgctx-test-evaluated))))

;;; Its keys

(defconst orgctx-test-long
  (concat orgctx-test-text
          (mapconcat (lambda (n) (format "* Far %d\n** Below %d\nfar text\n" n n))
                     (number-sequence 1 60) ""))
  "A file with more headlines than a view shows.")

(ert-deftest orgctx-test-each-headline-is-a-link-to-its-place ()
  (orgctx-test-in "it's a \"note\", 日本.org" orgctx-test-text
    (dolist (headline '("* Before" "* TODO Target of" "** Child" "* After"))
      (orgctx-test-shown (orgctx-focus))
      (orgctx-test-at headline)
      (orgctx-test-keys "RET")
      (should (string-suffix-p "日本.org" (buffer-file-name)))
      (should (looking-at-p (regexp-quote headline)))
      (orgctx-test-at "target text"))
    (orgctx-test-shown (orgctx-focus))
    (goto-char (point-min))
    (orgctx-test-keys "RET")
    (should (looking-at-p "#\\+title"))))

(ert-deftest orgctx-test-a-link-leads-into-unsaved-text ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-shown (orgctx-focus))
    (with-current-buffer (get-file-buffer (concat folder "note.org"))
      (orgctx-test-insert-at "text above all" "\n* New\nunsaved"))
    (orgctx-test-at "* After")
    (orgctx-test-keys "RET")
    (should (looking-at-p "\\* After"))
    (should (buffer-modified-p))))

(ert-deftest orgctx-test-tab-on-an-omission-expands-it ()
  (orgctx-test-in "note.org" (string-replace "* TODO" "** TODO" orgctx-test-long)
    (orgctx-test-shown (orgctx-focus))
    (orgctx-test-at "# … 37 headlines omitted")
    (let ((tokens (alist-get 'tokens orgctx--view)))
      (orgctx-test-keys "TAB")
      (should (> (alist-get 'tokens orgctx--view) tokens)))
    (should (string-match-p "^\\* Far 60$" (buffer-string)))
    (should (string-match-p "^text above all$" (buffer-string)))
    (should-not (string-match-p "headlines omitted" (buffer-string)))))

(ert-deftest orgctx-test-tab-raises-the-budget-if-it-must ()
  (orgctx-test-in "note.org" (string-replace "* TODO" "** TODO" orgctx-test-long)
    (let ((orgctx-budget 130))
      (orgctx-test-shown (orgctx-focus)))
    (goto-char (point-max))
    (forward-line -1)
    (should (looking-at-p "# … [0-9]+ headlines omitted"))
    (orgctx-test-keys "TAB")
    (should (string-match-p "^\\* Far [0-9]" (buffer-string)))
    (should (string-match-p "^target text" (buffer-string)))
    (should (> (alist-get 'budget orgctx--view) 130))))

(ert-deftest orgctx-test-tab-on-a-cut-text-gives-it-room ()
  (orgctx-test-in "note.org"
      (concat "* Target\ntarget text\n"
              (mapconcat (lambda (n) (format "line %d\n" n))
                         (number-sequence 1 200) "")
              "** Child\nchild text\n")
    (let ((orgctx-budget 100))
      (orgctx-test-shown (orgctx-focus)))
    (orgctx-test-at " lines omitted")
    (orgctx-test-keys "TAB")
    (should (string-match-p "/200 tokens" (orgctx--header)))
    (orgctx-test-at " lines omitted")
    (let ((current-prefix-arg 3000))
      (orgctx-test-keys "+"))
    (should (string-match-p "/3000 tokens" (orgctx--header)))
    (should (string-match-p "^line 200$" (buffer-string)))))

(ert-deftest orgctx-test-each-mark-knows-whose-it-is ()
  (orgctx-test-in "note.org" "* A
** Target
target text
# … 7 headlines omitted
*** Child
**** Deep
deep text
** B
* C
"
    (let ((orgctx-budget 34))
      (orgctx-test-shown (orgctx-focus)))
    (let (found)
      (goto-char (point-min))
      (while (re-search-forward "^# … .* omitted$" nil t)
        (push (list (match-string 0)
                    (get-text-property (match-beginning 0) 'orgctx-omitted))
              found))
      (dolist (mark (cdr (reverse found)))
        (should (cadr mark)))
      (should (equal (seq-sort #'string< (delete-dups (mapcar #'cadr found)))
                     (seq-sort #'string<
                               (cons nil (mapcar (lambda (each)
                                                   (alist-get 'address each))
                                                 (alist-get 'omitted
                                                            orgctx--view)))))))))

(ert-deftest orgctx-test-tab-elsewhere-folds ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-shown (orgctx-focus))
    (orgctx-test-at "* TODO Target of")
    (setq last-command nil
          this-command #'org-cycle)
    (orgctx-test-keys "TAB")
    (should (invisible-p (line-end-position)))))

(ert-deftest orgctx-test-plus-and-minus-change-the-budget ()
  (orgctx-test-in "note.org" orgctx-test-long
    (let ((orgctx-budget 200))
      (orgctx-test-shown (orgctx-focus)))
    (let ((before (buffer-string)))
      (orgctx-test-keys "+")
      (should (string-match-p "/400 tokens" (orgctx--header)))
      (should (> (buffer-size) (length before)))
      (orgctx-test-keys "-")
      (should (equal (buffer-string) before))
      (let ((current-prefix-arg 1))
        (should (string-prefix-p "BudgetTooSmall: " (orgctx-test-keys "-"))))
      (should (string-match-p "/200 tokens" (orgctx--header)))
      (should (equal (buffer-string) before)))))

(ert-deftest orgctx-test-the-last-of-several-changes-counts ()
  (orgctx-test-in "note.org" orgctx-test-long
    (orgctx-test-shown (orgctx-focus))
    (orgctx-view-more 300)
    (orgctx-view-more 350)
    (orgctx-test-do (orgctx-view-more 400))
    (should (string-match-p "/400 tokens" (orgctx--header)))))

(ert-deftest orgctx-test-a-view-of-several-files ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((orgctx-roots (list folder)))
      (dotimes (n 8)
        (write-region (format "* Other %d\nother text\n" n) nil
                      (format "%sother %d.org" folder n) nil 'quiet))
      (let ((orgctx-lens 'fisheye) (orgctx-budget 190))
        (orgctx-test-shown (orgctx-focus)))
      (orgctx-test-at "** TODO Target of")
      (orgctx-test-at "* other 0")
      (should (equal (get-text-property (point) 'orgctx-address) "other 0.org"))
      (orgctx-test-keys "RET")
      (should (string-suffix-p "other 0.org" (buffer-file-name)))
      (set-buffer orgctx-test-view-name)
      (orgctx-test-at " files omitted")
      (orgctx-test-shown (call-interactively (key-binding (kbd "TAB"))))
      (should (equal (buffer-name) "*orgctx ls*"))
      (orgctx-test-at " — 9 files, "))))

;;; Copy, insert, send

(ert-deftest orgctx-test-copy ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((text (orgctx-focus-string)))
      (should (string-match-p "Copied [0-9]+ tokens"
                              (orgctx-test-do
                               (call-interactively #'orgctx-focus-copy))))
      (should (equal kill-ring (list text)))
      (should-not (orgctx-test-views))
      (orgctx-test-shown (orgctx-focus))
      (setq kill-ring nil)
      (orgctx-test-keys "w")
      (should (equal kill-ring (list text))))))

(ert-deftest orgctx-test-insert ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((text (orgctx-focus-string)))
      (with-temp-buffer
        (insert "before\nafter")
        (goto-char 8)
        (let ((into (current-buffer)))
          (with-current-buffer (get-file-buffer (concat folder "note.org"))
            (orgctx-test-answering (list (buffer-name into))
              (orgctx-test-do (call-interactively #'orgctx-focus-insert)))
            (should-not (buffer-modified-p))))
        (should (equal (buffer-string) (concat "before\n" text "after")))))))

(ert-deftest orgctx-test-insert-where-nothing-can-be ()
  (orgctx-test-in "note.org" orgctx-test-text
    (with-temp-buffer
      (setq buffer-read-only t)
      (let ((into (buffer-name)))
        (with-current-buffer (get-file-buffer (concat folder "note.org"))
          (should-error (orgctx-focus-insert into) :type 'buffer-read-only)
          (should-not (orgctx-test-running)))))
    (let ((into (generate-new-buffer "into")))
      (should (equal (orgctx-test-do (orgctx-focus-insert into)
                                     (kill-buffer into))
                     "The buffer is gone")))))

(ert-deftest orgctx-test-send ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let* ((sent nil)
           (text (orgctx-focus-string))
           (orgctx-send-function (lambda (view) (push view sent))))
      (orgctx-test-do (orgctx-focus-send))
      (should (equal sent (list text))))))

;;; Unsaved text counts

(ert-deftest orgctx-test-unsaved-text-is-shown ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((bytes (orgctx-test-bytes buffer-file-name)))
      (orgctx-test-insert-at "text above all" "\n* One more")
      (orgctx-test-insert-at "target text: " "unsaved é, ")
      (let ((text (orgctx-focus-string)))
        (should (string-match-p "^target text: unsaved é, naïve" text))
        (should (string-match-p "^\\* One more$" text))
        (orgctx-test-shown (orgctx-focus))
        (should (equal (buffer-string) text)))
      (with-current-buffer (get-file-buffer (concat folder "note.org"))
        (should (buffer-modified-p))
        (should (equal (orgctx-test-bytes buffer-file-name) bytes))))))

(ert-deftest orgctx-test-unsaved-text-with-names-that-are-not-plain ()
  (dolist (name '("two  words, it's \"quoted\".org" "$(touch x) `touch x`.org"
                  "-n.org" "café 日本.org" "10:30 a::b.org" "new\nline.org"))
    (orgctx-test-in name orgctx-test-text
      (orgctx-test-insert-at "target text: " "unsaved ")
      (should (string-match-p "^target text: unsaved " (orgctx-focus-string)))
      (should (equal (directory-files folder nil "[^.]") (list name))))))

(ert-deftest orgctx-test-unsaved-text-is-sent-as-it-would-be-saved ()
  (dolist (coding '(utf-8-unix utf-8-dos utf-8-with-signature-unix
                               undecided-unix iso-latin-1-unix))
    (ert-info ((symbol-name coding) :prefix "coding: ")
      (orgctx-test-in "note.org" "# -*- coding: latin-1 -*-\n* Target\ntarget text\n"
        (setq buffer-file-coding-system coding)
        (insert " é")
        (should (string-match-p "^target text é\r?$" (orgctx-focus-string)))))))

(ert-deftest orgctx-test-a-file-that-was-never-saved ()
  (orgctx-test-in "note.org" orgctx-test-text
    (with-current-buffer (find-file-noselect (concat folder "new.org"))
      (insert "* New\nnew text\n")
      (should (string-match-p "^new text$" (orgctx-focus-string)))
      (should-not (file-exists-p buffer-file-name)))))

(ert-deftest orgctx-test-what-is-seen-counts-if-the-file-changed-on-disk ()
  (orgctx-test-in "note.org" orgctx-test-text
    (write-region "* Another\n" nil (concat folder "note.org") nil 'quiet)
    (set-file-times (concat folder "note.org") '(0 0))
    (orgctx-test-should-be-target (orgctx-focus-string))))

(ert-deftest orgctx-test-much-unsaved-text ()
  (orgctx-test-in "note.org" orgctx-test-text
    (goto-char (point-max))
    (insert "* Much\n")
    (dotimes (_ 4000)
      (insert (make-string 100 ?x) "\n"))
    (orgctx-test-at "target text")
    (orgctx-test-should-be-target (orgctx-focus-string))))

;;; Errors

(ert-deftest orgctx-test-buffer-without-file ()
  (with-temp-buffer
    (insert orgctx-test-text)
    (org-mode)
    (should (string-match-p "no file" (orgctx-test-complaint (orgctx-focus))))))

(ert-deftest orgctx-test-buffer-not-in-org-mode ()
  (orgctx-test-in "note.txt" orgctx-test-text
    (should (string-match-p "Not an Org buffer"
                            (orgctx-test-complaint (orgctx-focus))))))

(ert-deftest orgctx-test-program-not-found ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((orgctx-program "orgctx no such program"))
      (dolist (said (list (orgctx-test-complaint (orgctx-focus))
                          (orgctx-test-complaint (orgctx-focus-string))))
        (should (string-match-p
                 "\\`NotInstalled: cannot run .*\n  .*orgctx-program" said))))))

(defun orgctx-test-program (version script)
  "Return a program that says VERSION of itself, and otherwise runs SCRIPT."
  (list "sh" "-c"
        (format "case \"$*\" in *--version*) echo '%s';; *) %s;; esac"
                version script)
        "orgctx"))

(ert-deftest orgctx-test-program-without-a-message ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((orgctx-program (orgctx-test-program "orgctx 0.1.0" "exit 70")))
      (should (equal (orgctx-test-complaint (orgctx-focus))
                     "Failed: the program ended without a message, with status 70")))
    (let ((orgctx-program (orgctx-test-program "orgctx 0.1.0"
                                               "echo Traceback >&2; exit 1")))
      (should (equal (orgctx-test-complaint (orgctx-focus))
                     "Failed: Traceback")))))

(ert-deftest orgctx-test-program-that-answers-in-part ()
  (dolist (script '("true" "echo x{{" "printf '{\"output\": \"'"
                    "echo '{\"output\": \"{\"}'"))
    (ert-info (script :prefix "script: ")
      (orgctx-test-in "note.org" orgctx-test-text
        (let ((orgctx-program (orgctx-test-program "orgctx 0.1.0" script)))
          (should (equal (orgctx-test-complaint (orgctx-focus))
                         "Failed: the program's answer is not whole"))
          (should-not (get-buffer " *orgctx process*")))))))

(ert-deftest orgctx-test-program-that-does-not-read ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((orgctx-program
           (orgctx-test-program
            "orgctx 0.1.0"
            "echo '{\"error\":\"Full\",\"message\":\"m\",\"hint\":\"\"}'; exit 1")))
      (insert (make-string 1000000 ?a))
      (orgctx-test-complaint (orgctx-focus))     ; its version is known now
      (should (equal (orgctx-test-complaint (orgctx-focus)) "Full: m"))
      (should (equal (orgctx-test-complaint (orgctx-focus-string)) "Full: m")))))

(ert-deftest orgctx-test-a-folder-that-is-gone ()
  (orgctx-test-in "note.org" orgctx-test-text
    ;; Emacs compiles what stands for `message' here, the first time.
    (cl-letf (((symbol-function 'message) #'ignore)) (message "Warm"))
    (let ((default-directory (concat folder "gone/")))
      (should (equal (orgctx-test-complaint (orgctx-ls))
                     (format "NotFound: %s: there is no such folder"
                             default-directory)))
      (should-not (get-buffer " *orgctx process*")))))

(ert-deftest orgctx-test-wrong-version ()
  (orgctx-test-in "note.org" orgctx-test-text
    (pcase-dolist (`(,version . ,wanted)
                   '(("orgctx 0.0.9" . "orgctx 0.0.9.*\n  update the program")
                     ("orgctx 0.2.0" . "orgctx 0.2.0.*\n  update orgctx.el")
                     ("orgctx 1.1" . "orgctx 1.1.*\n  update orgctx.el")
                     ("other 0.1.0" . "other 0.1.0\n  see that")
                     ("" . "version")))
      (let ((orgctx-program (orgctx-test-program version "touch called")))
        (dolist (said (list (orgctx-test-complaint (orgctx-focus))
                            (orgctx-test-complaint (orgctx-focus-string))))
          (should (string-match-p (concat "\\`WrongVersion: .*" wanted) said)))
        (should-not (file-exists-p (concat folder "called")))))))

(ert-deftest orgctx-test-a-newer-patch-will-do ()
  (orgctx-test-in "note.org" orgctx-test-text
    (dolist (version '("orgctx 0.1.99" "orgctx 0.1"))
      (let ((orgctx-program
             (orgctx-test-program version "echo '{\"output\": \"yes\"}'")))
        (should (equal (orgctx-focus-string) "yes"))))))

(ert-deftest orgctx-test-version-is-asked-for-once ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((orgctx-program
           (list "sh" "-c" "echo >> asked; exec \"$0\" \"$@\""
                 orgctx-test-program)))
      (dotimes (_ 3)
        (orgctx-focus-string))
      (should (equal (orgctx-test-bytes (concat folder "asked"))
                     "\n\n\n\n")))))

(defun orgctx-test-event (status &rest arguments)
  "Call the program with ARGUMENTS and return the error that it tells.
It must say nothing else and end with STATUS."
  (let ((folder default-directory))
    (with-temp-buffer
      (setq default-directory folder)
      (should (equal (apply #'call-process orgctx-test-program nil t nil
                            "--events" arguments)
                     status))
      (orgctx-explain (mapcar (lambda (key)
                                (alist-get key (orgctx--parse (buffer-string))))
                              '(error message hint))))))

(ert-deftest orgctx-test-errors-are-the-programs-own ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let* ((orgctx-budget 1)
           (wanted (orgctx-test-event 3 "focus" "--budget" "1" "--"
                                      "./note.org:9")))
      (should (string-prefix-p "BudgetTooSmall: ./note.org:9: a budget" wanted))
      (should (equal (orgctx-test-complaint (orgctx-focus)) wanted))
      (should (equal (orgctx-test-complaint (orgctx-focus-copy)) wanted))
      (should (equal (orgctx-test-complaint (orgctx-focus-string)) wanted))
      (should-not kill-ring))
    (let ((orgctx-ids 'nonsense))
      (should (string-prefix-p "BadParameter: "
                               (orgctx-test-complaint (orgctx-focus)))))
    (should (equal (orgctx-test-complaint (orgctx-focus-address "%s é.org"))
                   (orgctx-test-event 1 "focus" "--" "%s é.org")))
    (should (string-prefix-p
             "NotFound: " (orgctx-test-complaint
                           (orgctx-focus-address "note.org::*No such"))))
    (let ((orgctx-roots (list folder)))
      (should (string-prefix-p
               "OutsideRoot: " (orgctx-test-complaint
                                (orgctx-focus-address "../x.org")))))
    (should (string-prefix-p
             "Ambiguous: "
             (progn
               (write-region "* A\n* A\n" nil (concat folder "a.org") nil 'quiet)
               (orgctx-test-complaint (orgctx-focus-address "a.org::*A")))))))

(ert-deftest orgctx-test-an-error-has-class-message-and-hint-as-data ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let* ((orgctx-budget 1)
           (data (cdr (should-error (orgctx-focus-string) :type 'orgctx-error))))
      (should (equal (car data) "BudgetTooSmall"))
      (should (= (length data) 3))
      (should (cl-every #'stringp data)))))

;;; Stopping

(defconst orgctx-test-endless
  (orgctx-test-program "orgctx 0.1.0" "echo $$ > pid; exec sleep 600")
  "A program that does not end.")

(defun orgctx-test-started (folder)
  "Say whether the program has written its number in FOLDER."
  (let ((file (file-attributes (concat folder "pid"))))
    (and file (> (file-attribute-size file) 1))))

(defun orgctx-test-pid ()
  "Wait for the program to write its number in this folder, and return it."
  (with-timeout (120 (error "The program does not start"))
    (while (not (orgctx-test-started default-directory))
      (accept-process-output nil 0.02)))
  (string-to-number (orgctx-test-bytes (expand-file-name "pid"))))

(defun orgctx-test-should-end (pid)
  "Check that the process PID ends."
  (with-timeout (120 (ert-fail "The program goes on"))
    (while (not (member (alist-get 'state (process-attributes pid)) '(nil "Z")))
      (accept-process-output nil 0.02))))

(ert-deftest orgctx-test-quit-stops-who-waits-and-the-program ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let* ((orgctx-program orgctx-test-endless)
           (timer (run-at-time 0.1 0.1 (lambda ()
                                         (when (orgctx-test-started folder)
                                           (setq quit-flag t))))))
      (should (eq 'quit (unwind-protect
                            (condition-case nil
                                (orgctx-focus-string)
                              (quit 'quit))
                          (cancel-timer timer))))
      (should-not (orgctx-test-running))
      (orgctx-test-should-end (orgctx-test-pid)))))

(ert-deftest orgctx-test-cancelled-is-cancelled ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let* ((orgctx-program orgctx-test-endless)
           (request (orgctx--ask '("status") #'error :else #'error))
           (pid (orgctx-test-pid)))
      (should (process-attributes pid))
      (should (equal (orgctx-test-do (orgctx--quit request))
                     "Orgctx: cancelled"))
      (orgctx-test-should-end pid)
      (should-not (get-buffer " *orgctx process*"))
      (should-not (orgctx-test-do (orgctx--quit request))))))

(ert-deftest orgctx-test-quit-key-is-taken-and-given-back ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let* ((noninteractive nil)
           (orgctx-program orgctx-test-endless)
           (usual (key-binding (kbd "C-g")))
           (request (orgctx--ask '("status") #'error :else #'error)))
      (orgctx-test-pid)
      (should-not (eq (key-binding (kbd "C-g")) usual))
      (should (equal (orgctx-test-keys "C-g") "Orgctx: cancelled"))
      (should (orgctx--request-done request))
      (should (eq (key-binding (kbd "C-g")) usual)))))

(ert-deftest orgctx-test-quit-stops-a-program-that-does-not-read ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let* ((orgctx-program orgctx-test-endless)
           (timer (run-at-time 0.1 0.1 (lambda ()
                                         (when (orgctx-test-started folder)
                                           (setq quit-flag t))))))
      (puthash (orgctx--program-key) t orgctx--versions)
      (insert (make-string 1000000 ?a))
      (should (eq 'quit (unwind-protect
                            (condition-case nil
                                (orgctx-focus)
                              (quit 'quit))
                          (cancel-timer timer))))
      (should-not (orgctx-test-running))
      (orgctx-test-should-end (orgctx-test-pid)))))

;;; Progress and warnings

(ert-deftest orgctx-test-progress-is-told ()
  (orgctx-test-in "note.org" orgctx-test-text
    (dotimes (n 30)
      (write-region "* A\n" nil (format "%s%d.org" folder n) nil 'quiet))
    (let ((orgctx-roots (list folder)) (told nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (form &rest words)
                   (push (apply #'format form words) told))))
        (orgctx-focus-string))
      (should (equal (car told) "Orgctx: reading notes, 31 of 31"))
      (should (> (length told) 10)))))

(ert-deftest orgctx-test-warnings-are-told ()
  (orgctx-test-in "note.org" orgctx-test-text
    (make-symbolic-link "me@nowhere.1" (concat folder ".#note.org"))
    (should (string-match-p "unsaved edits"
                            (orgctx-test-do (orgctx-focus))))))

;;; Listings

(defmacro orgctx-test-in-memex (&rest body)
  "Run BODY in a note of a memex of several folders, which is the only root."
  `(orgctx-test-in "note.org" orgctx-test-text
     (let ((orgctx-roots (list folder)))
       (make-directory (concat folder "it's/日本" ) t)
       (write-region "#+title: Deep %s\n* TODO Leaf :tag:\nleaf text\n* Tree\n** Twig\n"
                     nil (concat folder "it's/日本/deep.org") nil 'quiet)
       (write-region "[[collections]]\nname = \"One\"\npaths = [\"note.org\"]\n
[[collections]]\nname = \"Two é\"\npaths = [\"it's/\"]\ntier = 10\n
[[collections]]\nname = \"Three\"\npaths = [\"it's/\"]\ntier = 10\n"
                     nil (concat folder "orgctx.toml") nil 'quiet)
       ,@body)))

(ert-deftest orgctx-test-ls-goes-down-and-up ()
  (orgctx-test-in-memex
   (orgctx-test-shown (call-interactively #'orgctx-ls))
   (should (string-match-p "2 files, 7 headlines" (buffer-string)))
   (let ((roots (buffer-string)))
     (orgctx-test-keys "RET")
     (should (string-match-p "^it's/ — 1 file, 3 headlines\nNotes — 4 headlines, "
                             (buffer-string)))
     (orgctx-test-keys "RET")
     (orgctx-test-keys "RET")
     (should (string-match-p "^Deep %s — 3 headlines, " (buffer-string)))
     (orgctx-test-keys "RET")
     (should (string-match-p "^TODO Leaf :tag: — 0 headlines, [0-9]+ tokens
Tree — 1 headline, [0-9]+ tokens$" (buffer-string)))
     (orgctx-test-at "Tree")
     (orgctx-test-keys "RET")
     (should (string-match-p "\\`Twig — " (buffer-string)))
     (dotimes (_ 5)
       (orgctx-test-keys "^"))
     (should (equal (buffer-string) roots))
     (should-error (orgctx-test-keys "^") :type 'user-error))))

(ert-deftest orgctx-test-ls-focuses-and-visits ()
  (orgctx-test-in-memex
   (orgctx-test-shown (orgctx-ls "it's/日本/deep.org"))
   (orgctx-test-at "Leaf")
   (orgctx-test-shown (call-interactively (key-binding (kbd "RET"))))
   (should (string-match-p "^leaf text$" (buffer-string)))
   (orgctx-test-at "* Tree")
   (orgctx-test-keys "RET")
   (should (looking-at-p "\\* Tree"))
   (set-buffer "*orgctx ls*")
   (orgctx-test-at "Tree")
   (orgctx-test-keys "o")
   (should (string-suffix-p "/deep.org" (buffer-file-name)))
   (should (looking-at-p "\\* Tree"))
   (set-buffer "*orgctx ls*")
   (orgctx-test-shown (call-interactively (key-binding "f")))
   (should (string-match-p "^\\*\\* Twig$" (buffer-string)))))

(ert-deftest orgctx-test-ls-lists-more ()
  (orgctx-test-in "note.org" orgctx-test-long
    (let ((orgctx-roots (list folder)))
      (orgctx-test-shown (orgctx-ls "note.org"))
      (should (= (count-lines (point-min) (point-max)) 51))
      (orgctx-test-at "… 13 more headlines")
      (orgctx-test-keys "RET")
      (should (looking-at-p "Far 48 "))
      (should (= (count-lines (point-min) (point-max)) 63))
      (goto-char (point-max))
      (should-error (orgctx-test-keys "RET") :type 'user-error))))

(ert-deftest orgctx-test-ls-lists-more-only-where-it-was-asked ()
  (orgctx-test-in "note.org" orgctx-test-long
    (let ((orgctx-roots (list folder)))
      (orgctx-test-shown (orgctx-ls "note.org"))
      (orgctx-test-at "… 13 more headlines")
      (let ((inhibit-read-only t))
        (orgctx-test-do (orgctx-ls-enter)
                        (erase-buffer)
                        (insert "something else\n")))
      (should (equal (buffer-string) "something else\n"))
      (orgctx-test-shown (orgctx-ls "note.org"))
      (orgctx-test-at "… 13 more headlines")
      (should-not (orgctx-test-do (orgctx-ls-enter)
                                  (kill-buffer))))))

(ert-deftest orgctx-test-ls-complains ()
  (orgctx-test-in-memex
   (should (string-prefix-p "NotFound: nowhere: "
                            (orgctx-test-complaint (orgctx-ls "nowhere"))))))

;;; A question

(defvar org-inlinetask-min-level)

(ert-deftest orgctx-test-context ()
  (orgctx-test-in-memex
   (delete-file (concat folder "orgctx.toml"))
   (orgctx-test-answering '("where is the leaf text; it's \"$HOME\"?")
     (orgctx-test-shown (call-interactively #'orgctx-context)))
   (should (derived-mode-p 'org-mode))
   (should (string-match-p "^\\* likely files$" (buffer-string)))
   (search-forward "* likely files\n")
   (search-forward "Leaf")
   (orgctx-test-shown (call-interactively (key-binding "f")))
   (should (string-match-p "^leaf text$" (buffer-string)))
   (set-buffer "*orgctx context*")
   (orgctx-test-keys "RET")
   (should (string-suffix-p "/deep.org" (buffer-file-name)))
   (should (looking-at-p "\\* TODO Leaf"))
   (set-buffer "*orgctx context*")
   (orgctx-test-keys "w")
   (should (equal (car kill-ring) (buffer-string)))
   (let ((text (buffer-string)))
     (orgctx-test-keys "g")
     (should (equal (buffer-string) text)))))

(ert-deftest orgctx-test-context-links-of-every-section ()
  (orgctx-test-in-memex
   (orgctx-test-shown (orgctx-context "tag"))
   (goto-char (point-min))
   (should (search-forward "* relevant symbols\n"))
   (should (get-text-property (point) 'orgctx-address))
   (goto-char (point-min))
   (search-forward "* relevant indexes\n")
   (should (get-text-property (point) 'orgctx-address))
   (goto-char (point-min))
   (should-error (orgctx-test-keys "RET") :type 'user-error)))

(ert-deftest orgctx-test-context-links-of-names-with-dashes ()
  (dolist (name '("fruit — apple.org" "fruit.org — apple.org"))
    (orgctx-test-in name "#+begin_src elisp\n(defun leaf ())\n#+end_src
* Leaf :leaf:\nleaf text\n"
      (let ((orgctx-roots (list folder)) (places nil))
        (orgctx-test-shown (orgctx-context "leaf"))
        (while (search-forward name nil t)
          (when-let ((place (get-text-property (line-beginning-position)
                                               'orgctx-address)))
            (cl-pushnew (replace-regexp-in-string ":[0-9]+\\'" "" place) places
                        :test #'equal)))
        (should (equal places (list name)))
        (orgctx-test-at "* likely files")
        (forward-line)
        (orgctx-test-keys "RET")
        (should (string-suffix-p (concat "/" name) (buffer-file-name)))))))

(ert-deftest orgctx-test-inline-tasks-are-text-where-they-are-in-org ()
  (orgctx-test-in "a.org" "* A\n*************** An inline task\n"
    (let ((org-inlinetask-min-level 15))
      (cl-letf (((symbol-value 'features) (remq 'org-inlinetask features)))
        (orgctx-test-shown (orgctx-ls "a.org"))
        (should (string-match-p " 1 headline" (buffer-string))))
      (cl-letf (((symbol-value 'features) (cons 'org-inlinetask features)))
        (orgctx-test-shown (orgctx-ls "a.org"))
        (should (string-match-p " 0 headlines" (buffer-string)))
        (let ((org-inlinetask-min-level nil))
          (should-not (orgctx--note-arguments)))))))

;;; Collections

(defun orgctx-test-ranks ()
  "Return the names of the collections as this buffer shows them, by rank."
  (mapcar (lambda (rank) (mapcar (lambda (row) (alist-get 'name row)) rank))
          orgctx--ranks))

(ert-deftest orgctx-test-collections-are-moved-and-saved ()
  (orgctx-test-in-memex
   (orgctx-test-shown (orgctx-collections))
   (should (equal (orgctx-test-ranks) '(("One") ("Two é" "Three"))))
   (let ((bytes (orgctx-test-bytes (concat folder "orgctx.toml"))))
     (orgctx-test-at "Three")
     (orgctx-test-keys "+")
     (orgctx-test-keys "u")
     (orgctx-test-keys "u")
     (should (looking-at-p "  Three"))
     (should (equal (orgctx-test-ranks) '(("One" "Three") ("Two é"))))
     (orgctx-test-keys "u")
     (orgctx-test-at "Two é")
     (orgctx-test-keys "u")
     (should (equal (orgctx-test-ranks) '(("Three") ("One" "Two é"))))
     (orgctx-test-keys "d")
     (should (equal (orgctx-test-ranks) '(("Three") ("One") ("Two é"))))
     (should-error (orgctx-test-keys "d") :type 'user-error)
     (should (string-match-p "not saved" header-line-format))
     (should (equal (orgctx-test-bytes (concat folder "orgctx.toml")) bytes))
     (should (equal (orgctx-test-keys "s") "Saved"))
     (should (equal (orgctx-test-ranks) '(("Three") ("One") ("Two é"))))
     (should-not (string-match-p "not saved" header-line-format))
     (should-error (orgctx-test-keys "s") :type 'user-error)
     (orgctx-test-keys "g")
     (should (equal (orgctx-test-ranks) '(("Three") ("One") ("Two é")))))))

(ert-deftest orgctx-test-collections-that-are-not-saved-are-dropped ()
  (orgctx-test-in-memex
   (orgctx-test-shown (orgctx-collections))
   (let ((text (buffer-string)))
     (orgctx-test-at "Three")
     (orgctx-test-keys "M-<up>")
     (should-not (equal (buffer-string) text))
     (orgctx-test-keys "g")
     (should (equal (buffer-string) text)))))

(ert-deftest orgctx-test-collections-that-cannot-be-saved ()
  (orgctx-test-in-memex
   (orgctx-test-shown (orgctx-collections))
   (orgctx-test-at "Three")
   (orgctx-test-keys "u")
   (write-region "[[collections]]\nname = \"One\"\npaths = [\"note.org\"]\n"
                 nil (concat folder "orgctx.toml") nil 'quiet)
   (should (string-prefix-p "NotFound: Three" (orgctx-test-keys "s")))
   (should (equal (orgctx-test-ranks) '(("One"))))))

;;; Working copies

(defun orgctx-test-call (&rest arguments)
  "Return what the program prints when it is called with ARGUMENTS."
  (with-temp-buffer
    (should (= 0 (apply #'call-process orgctx-test-program nil '(t nil) nil
                        arguments)))
    (buffer-string)))

(defun orgctx-test-edit (file old new)
  "Replace OLD by NEW in FILE."
  (with-temp-buffer
    (insert-file-contents file)
    (search-forward old)
    (replace-match new t t)
    (write-region nil nil file nil 'quiet)))

(defmacro orgctx-test-in-copy (id &rest body)
  "Run BODY in a note whose working copy ID, in the folder `copy', is edited."
  (declare (indent 1))
  `(orgctx-test-in "note.org" orgctx-test-text
     (let ((copy (file-name-as-directory
                  (car (last (split-string
                              (orgctx-test-call "work" "open" ,id "--root" folder)
                              "\n" t))))))
       (unwind-protect
           (progn
             (orgctx-test-edit (concat copy "note.org") "child text" "new é text")
             ,@body)
         (orgctx-test-call "work" "discard" ,id)))))

(ert-deftest orgctx-test-work-diff-and-commit ()
  (orgctx-test-in-copy "demo"
    (orgctx-test-shown (call-interactively #'orgctx-work-diff))
    (should (equal (buffer-name) "*orgctx work: demo*"))
    (should (derived-mode-p 'diff-mode))
    (should (string-match-p "^-child text\n\\+new é text$" (buffer-string)))
    (should buffer-read-only)
    (should (equal default-directory copy))
    (orgctx-test-edit (concat copy "note.org") "target text" "other text")
    (orgctx-test-keys "g")
    (should (string-match-p "^\\+other text" (buffer-string)))
    (orgctx-test-answering '("It's $(done), é")
      (should (equal (orgctx-test-keys "c") "1 written")))
    (should (equal (buffer-name) "*orgctx commit*"))
    (should (string-match-p "\\`written note.org" (buffer-string)))
    (should (string-match-p "^new é text$"
                            (decode-coding-string
                             (orgctx-test-bytes (concat folder "note.org"))
                             'utf-8)))
    (should (string-match-p "It's \\$(done), é" (orgctx-test-call "work" "log")))
    (should (equal (orgctx-test-do (orgctx-work-diff '((id . "demo"))))
                   "Nothing was edited in demo"))))

(ert-deftest orgctx-test-work-commit-shows-conflicts ()
  (orgctx-test-in-copy "demo"
    (orgctx-test-edit (concat folder "note.org") "child text" "their text")
    (revert-buffer t t)
    (orgctx-test-answering '("a try")
      (orgctx-test-shown (call-interactively #'orgctx-work-commit)))
    (should (string-match-p "\\`conflict note.org: .*Child" (buffer-string)))
    (orgctx-test-keys "RET")
    (should (equal (buffer-file-name) (concat folder "note.org")))
    (should (looking-at-p "\\*\\* Child"))
    (set-buffer "*orgctx commit*")
    (should-error (orgctx-test-keys "g") :type 'user-error)))

(ert-deftest orgctx-test-work-asks-which-copy ()
  (orgctx-test-in-copy "one"
    (orgctx-test-call "work" "open" "two" "--root" folder)
    (unwind-protect
        (orgctx-test-answering '("one")
          (orgctx-test-shown (call-interactively #'orgctx-work-diff))
          (should (equal (buffer-name) "*orgctx work: one*")))
      (orgctx-test-call "work" "discard" "two"))))

(ert-deftest orgctx-test-work-without-a-copy ()
  (orgctx-test-in "note.org" orgctx-test-text
    (should (string-match-p "No working copy"
                            (orgctx-test-complaint
                             (call-interactively #'orgctx-work-diff))))
    (should (string-prefix-p "NotFound: none: "
                             (orgctx-test-complaint
                              (orgctx-work-commit '((id . "none")) "x"))))
    (let ((orgctx-program "orgctx no such program"))
      (should (string-prefix-p "NotInstalled: "
                               (orgctx-test-complaint
                                (call-interactively #'orgctx-work-commit)))))))

;;; Status and menu

(ert-deftest orgctx-test-status ()
  (orgctx-test-in-memex
   (write-region "* A\n:PROPERTIES:\n:ID: 11111111-2222-4333-8444-555555555555\n:END:\n"
                 nil (concat folder "twice.org") nil 'quiet)
   (orgctx-test-shown (orgctx-status))
   (should (string-match-p " — 3 files, 8 headlines (" (buffer-string)))
   (should (string-match-p "^1 ID, 1 of them on several nodes$" (buffer-string)))
   (should (string-match-p "^store: /" (buffer-string)))
   (orgctx-test-at "twice.org:1: ")
   (orgctx-test-keys "RET")
   (should (string-suffix-p "/twice.org" (buffer-file-name)))))

(ert-deftest orgctx-test-menu-has-every-command ()
  (should (get 'orgctx 'transient--prefix))
  (dolist (command '(orgctx-focus orgctx-focus-copy orgctx-focus-insert
                     orgctx-focus-send orgctx-context orgctx-ls
                     orgctx-collections orgctx-status
                     orgctx-work-diff orgctx-work-commit))
    (should (commandp command))
    (should (cl-search (symbol-name command)
                       (format "%S" (get 'orgctx 'transient--layout)))))
  (let ((orgctx-budget 4000) (orgctx-lens 'foveal))
    (orgctx-set-budget 300)
    (should (= orgctx-budget 300))
    (orgctx-toggle-lens)
    (should (eq orgctx-lens 'fisheye))
    (orgctx-toggle-lens)
    (should (eq orgctx-lens 'foveal))))

;;; Remote files

(defmacro orgctx-test-remotely (&rest body)
  "Run BODY where the current file is visited by the TRAMP method mock.
That is this host, seen through a shell."
  `(let* ((tramp-methods (cons '("mock" (tramp-login-program "sh")
                                 (tramp-login-args (("-i")))
                                 (tramp-remote-shell "/bin/sh")
                                 (tramp-remote-shell-args ("-c")))
                               tramp-methods))
          (tramp-verbose 0)
          (buffer (find-file-noselect
                   (concat "/mock:" (system-name) ":" buffer-file-name))))
     (unwind-protect
         (with-current-buffer buffer
           (goto-char (point-min))
           (search-forward "target text")
           ,@body)
       (kill-buffer buffer)
       (tramp-cleanup-all-connections))))

(ert-deftest orgctx-test-remote-file ()
  (dolist (name '("it's $(touch x).org" "café;touch x.org"))
    (orgctx-test-in name orgctx-test-text
      (let ((here (orgctx-focus-string)))
        (orgctx-test-remotely
         (should (equal (orgctx-focus-string) here))
         (orgctx-test-shown (orgctx-focus))
         (should (equal (buffer-string) here))
         (orgctx-test-at "* After")
         (orgctx-test-keys "RET")
         (should (file-remote-p buffer-file-name))
         (should (looking-at-p "\\* After"))
         (should-not (file-exists-p (concat folder "x"))))))))

(ert-deftest orgctx-test-remote-unsaved-text ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-remotely
     (orgctx-test-insert-at "target text: " "unsaved 日本, \C-c\C-d ")
     (goto-char (point-max))
     (insert (make-string 10000 ?x) "\n")
     (orgctx-test-at "target text")
     (should (string-match-p "^target text: unsaved 日本, \C-c\C-d "
                             (orgctx-focus-string)))
     (should-not (directory-files temporary-file-directory nil "\\`orgctx-unsaved-"))
     (set-buffer-modified-p nil))))

(ert-deftest orgctx-test-remote-file-is-read-by-its-hosts-program ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-remotely
     (let ((orgctx-program
            (orgctx-test-program
             "orgctx 0.1.0" "echo \"{\\\"output\\\": \\\"$INSIDE_EMACS\\\"}\"")))
       (should (string-match-p "tramp" (orgctx-focus-string)))))))

(ert-deftest orgctx-test-remote-roots-are-those-of-the-host ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-remotely
     (let ((orgctx-roots (list "/local" default-directory)))
       (should (equal (orgctx--root-arguments) (list "--root" folder)))))))

(ert-deftest orgctx-test-remote-errors ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-remotely
     (let ((orgctx-budget 1))
       (should (string-prefix-p "BudgetTooSmall: "
                                (orgctx-test-complaint (orgctx-focus)))))
     (let ((orgctx-program "orgctx-no-such-program"))
       (should (string-match-p "\\`NotInstalled: .*\n  .*orgctx-program"
                               (orgctx-test-complaint (orgctx-focus))))))))

(provide 'orgctx-test)
;;; orgctx-test.el ends here
