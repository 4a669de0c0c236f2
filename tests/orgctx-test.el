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
                      (string-prefix-p "*orgctx: " (buffer-name buffer)))
                    (buffer-list)))

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
  "Return the message of the `user-error' that BODY signals; nothing may open."
  `(let ((message (cadr (should-error (progn ,@body) :type 'user-error))))
     (should-not (orgctx-test-views))
     message))

(defmacro orgctx-test-answering (answer &rest body)
  "Run BODY with ANSWER, t or nil, to the one question it must ask."
  (declare (indent 1))
  `(let ((questions 0))
     (cl-letf (((symbol-function 'y-or-n-p)
                (lambda (&rest _) (cl-incf questions) ,answer)))
       (prog1 (progn ,@body)
         (should (= questions 1))))))

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
        (orgctx-focus)
        (should (get-buffer orgctx-test-view-name))))))

(ert-deftest orgctx-test-line-ends-are-unchanged ()
  (orgctx-test-in "note.org" (string-replace "\n" "\r\n" orgctx-test-text)
    (let ((text (orgctx-focus-string)))
      (should (string-match-p "^target text: naïve café, 日本\r\n" text))
      (should-not (string-match-p "\r\r" text)))
    (let ((orgctx-program '("sh" "-c" "printf 'a\\r\\nb\\r\\n'")))
      (should (equal (orgctx-focus-string) "a\r\nb\r\n")))))

(ert-deftest orgctx-test-file-is-not-changed ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((bytes (orgctx-test-bytes buffer-file-name))
          (time (file-attribute-modification-time
                 (file-attributes buffer-file-name)))
          (tick (buffer-modified-tick)))
      (orgctx-focus)
      (set-buffer (get-file-buffer (concat folder "note.org")))
      (orgctx-focus t)
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
      (should (string-match-p "\\`orgctx: "
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
      (call-interactively #'orgctx-focus)
      (should (eq (window-buffer) (get-buffer orgctx-test-view-name)))
      (set-buffer orgctx-test-view-name)
      (should (equal (buffer-string) text))
      (should (= (point) (point-min)))
      (should (derived-mode-p 'org-mode))
      (should buffer-read-only)
      (should-not view-mode)
      (should-not buffer-file-name)
      (should-not (buffer-modified-p))
      (should (equal default-directory folder))
      (should-not kill-ring))))

(ert-deftest orgctx-test-view-above-all-headlines-is-named-after-the-file ()
  (orgctx-test-in "note.org" orgctx-test-text
    (goto-char (point-min))
    (orgctx-focus)
    (should (get-buffer "*orgctx: note.org*"))))

(ert-deftest orgctx-test-view-refreshes-and-quits ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-focus)
    (with-current-buffer (get-file-buffer (concat folder "note.org"))
      (goto-char (point-min))
      (insert "#+author: me\n\n")
      (search-forward "target text: ")
      (insert "now changed, ")
      (save-buffer))
    (set-buffer orgctx-test-view-name)
    (goto-char (point-max))
    (call-interactively (key-binding "g"))
    (should (equal (buffer-name) orgctx-test-view-name))
    (should (string-match-p "^target text: now changed, " (buffer-string)))
    (should (= (point) (point-min)))
    (should buffer-read-only)
    (should (eq (key-binding "q") #'quit-window))))

(ert-deftest orgctx-test-view-stays-when-it-cannot-be-refreshed ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-focus)
    (kill-buffer (get-file-buffer (concat folder "note.org")))
    (set-buffer orgctx-test-view-name)
    (let ((text (buffer-string)))
      (should-error (revert-buffer) :type 'user-error)
      (should (equal (buffer-string) text)))))

(ert-deftest orgctx-test-prefix-argument-copies ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((text (orgctx-focus-string))
          (current-prefix-arg '(4)))
      (should (string-match-p (format "\\b%d characters" (length text))
                              (call-interactively #'orgctx-focus)))
      (should (equal kill-ring (list text)))
      (should-not (orgctx-test-views)))))

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
      (orgctx-focus)
      (set-buffer "*orgctx: Target*")
      (should (string-match-p "push 3" (buffer-string)))
      (revert-buffer)
      (should-not (bound-and-true-p org-indent-mode))
      (should-not orgctx-test-evaluated))))

;;; What the program reads is the file

(ert-deftest orgctx-test-unsaved-buffer-is-refused ()
  (orgctx-test-in "note.org" orgctx-test-text
    (insert " unsaved")
    (should (string-match-p "unsaved changes"
                            (orgctx-test-complaint
                             (orgctx-test-answering nil (orgctx-focus)))))
    (should (buffer-modified-p))))

(ert-deftest orgctx-test-unsaved-buffer-is-saved-on-request ()
  (orgctx-test-in "note.org" orgctx-test-text
    (save-excursion
      (goto-char (point-min))
      (insert "one more line\n"))
    (orgctx-test-should-be-target
     (orgctx-test-answering t (orgctx-focus-string)))
    (should-not (buffer-modified-p))))

(ert-deftest orgctx-test-file-changed-on-disk-is-refused ()
  (orgctx-test-in "note.org" orgctx-test-text
    (write-region "* Another\n" nil (concat folder "note.org") nil 'quiet)
    (set-file-times (concat folder "note.org") '(0 0))
    (should (string-match-p "changed on disk"
                            (orgctx-test-complaint (orgctx-focus))))))

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
      (should (string-match-p
               "\\`Cannot run orgctx no such program: .*\n  .*orgctx-program"
               (orgctx-test-complaint (orgctx-focus)))))))

(ert-deftest orgctx-test-program-without-a-message ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((orgctx-program '("sh" "-c" "exit 70")))
      (should (string-match-p "status 70"
                              (orgctx-test-complaint (orgctx-focus)))))))

(defun orgctx-test-stderr (status &rest options)
  "Focus on point with OPTIONS and return what the program says on stderr.
It must say nothing else and end with STATUS."
  (let ((errors (make-temp-file "orgctx-test"))
        (folder default-directory)
        (place (format "./%s:%d" (file-name-nondirectory buffer-file-name)
                       (line-number-at-pos))))
    (with-temp-buffer
      (setq default-directory folder)
      (should (equal (apply #'call-process orgctx-test-program nil
                            (list t errors) nil
                            `("focus" ,@options "--" ,place))
                     status))
      (should (equal (buffer-string) ""))
      (insert-file-contents errors)
      (delete-file errors)
      (should (string-prefix-p "orgctx: " (buffer-string)))
      (string-trim-right (buffer-string)))))

(ert-deftest orgctx-test-error-is-the-programs-own ()
  (orgctx-test-in "note.org" orgctx-test-text
    (set-visited-file-name (concat folder "%s missing.org") t)
    (set-buffer-modified-p nil)
    (should (equal (orgctx-test-complaint (orgctx-focus))
                   (orgctx-test-stderr 1)))))

(ert-deftest orgctx-test-budget-too-small ()
  (orgctx-test-in "note.org" orgctx-test-text
    (let ((orgctx-budget 1))
      (should (equal (orgctx-test-complaint (orgctx-focus t))
                     (orgctx-test-stderr 3 "--budget" "1")))
      (should-not kill-ring))))

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
         (should-not (file-exists-p (concat folder "x"))))))))

(ert-deftest orgctx-test-remote-file-is-read-by-its-hosts-program ()
  (orgctx-test-in "note.org" orgctx-test-text
    (orgctx-test-remotely
     (let ((orgctx-program '("sh" "-c" "printf %s \"$INSIDE_EMACS\"")))
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
       (should (string-match-p "\\`orgctx: "
                               (orgctx-test-complaint (orgctx-focus)))))
     (let ((orgctx-program "orgctx-no-such-program"))
       (should (string-match-p "no-such-program.*\n  .*orgctx-program"
                               (orgctx-test-complaint (orgctx-focus))))))))

(provide 'orgctx-test)
;;; orgctx-test.el ends here
