;;; orgctx.el --- One Org headline in context, within a token budget  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors

;; Author: The orgctx authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: outlines, tools
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A language model should see the headline you mean, and where it stands,
;; but not the whole file.  `orgctx-focus' asks the program orgctx for that
;; view of the node at point: the entry in full, its surroundings in outline,
;; never over `orgctx-budget' tokens.  The view opens in an Org buffer where
;; `g' refreshes and `q' quits; with a prefix argument it goes to the kill
;; ring instead.  `orgctx-focus-string' is the same for other packages.
;;
;; The program is found on the host of the note, which may be remote, and it
;; reads the note's file, so the buffer must be saved.  Nothing is written.

;;; Code:

(require 'org)

(defgroup orgctx nil
  "Org headlines in context, within a token budget."
  :group 'org
  :prefix "orgctx-")

(defcustom orgctx-program "orgctx"
  "The program orgctx: its name, or a list of name and leading arguments.
No shell reads it."
  :type '(choice string (repeat string))
  :risky t)

(defcustom orgctx-budget 4000
  "The most tokens a view may have."
  :type 'natnum
  :safe #'natnump)

(defcustom orgctx-roots nil
  "Folders of Org files that a view may draw from; nil means the file itself.
Only those on the host of the note are used."
  :type '(repeat directory)
  :risky t)

(defcustom orgctx-ids 'full
  "How a view writes IDs: in full, as the shortest unique prefix, or not at all."
  :type '(choice (const full) (const short) (const none))
  :safe #'symbolp)

;;; The program

(defconst orgctx--install-hint "\n  install it or set `orgctx-program'"
  "What to do when the program is not found.")

(defun orgctx--call (arguments errors)
  "Run `orgctx-program' with ARGUMENTS and return its exit status.
Insert its standard output at point; write its errors to the file ERRORS."
  (let ((command (append (ensure-list orgctx-program) arguments))
        (coding-system-for-read 'utf-8-unix)
        (coding-system-for-write (or file-name-coding-system
                                     default-file-name-coding-system)))
    (condition-case err
        (apply #'process-file (car command) nil (list t errors) nil
               (cdr command))
      (file-error
       (user-error "Cannot run %s: %s%s" (car command)
                   (error-message-string err) orgctx--install-hint)))))

(defun orgctx--complaint (errors status)
  "Return the message in the file ERRORS of a program that ended with STATUS."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix))
      (insert-file-contents errors))
    (when (= (buffer-size) 0)
      (insert (format "Program ended without a message: status %s" status)))
    (concat (string-trim-right (buffer-string))
            (and (eq status 127) orgctx--install-hint)))) ; 127: not found

(defun orgctx--run (arguments)
  "Return what `orgctx-program' prints when called with ARGUMENTS.
Signal its own message and hint as a `user-error' if it fails."
  (let ((errors (make-temp-file "orgctx-")))
    (unwind-protect
        (with-temp-buffer
          (let ((status (orgctx--call arguments errors)))
            (unless (eq status 0)
              (user-error "%s" (orgctx--complaint errors status))))
          (buffer-string))
      (delete-file errors))))

(defun orgctx--local-name (file)
  "Return the absolute name of FILE as programs on its host know it."
  (file-name-unquote (file-local-name (expand-file-name file))))

(defun orgctx--root-arguments ()
  "Return the arguments that name the roots on the host of this buffer's file."
  (let ((host (file-remote-p buffer-file-name)))
    (mapcan (lambda (root)
              (when (equal host (file-remote-p root))
                (list "--root" (orgctx--local-name root))))
            orgctx-roots)))

(defun orgctx--arguments (line)
  "Return the arguments that focus on LINE of this buffer's file."
  `("focus"
    "--budget" ,(format "%s" orgctx-budget)
    "--ids" ,(format "%s" orgctx-ids)
    ,@(orgctx--root-arguments)
    "--" ,(format "./%s:%d"
                  (file-name-nondirectory (orgctx--local-name buffer-file-name))
                  line)))

;;; The note

(defun orgctx--source ()
  "Return a marker at point, in the base buffer if this one is indirect."
  (set-marker (make-marker) (point) (or (buffer-base-buffer) (current-buffer))))

(defun orgctx--save ()
  "Offer to save this buffer; signal a `user-error' if it stays unsaved."
  (unless (y-or-n-p (format "Orgctx reads the file on disk; save %s first? "
                            (buffer-name)))
    (user-error "%s has unsaved changes, and orgctx reads the file on disk"
                (buffer-name)))
  (save-buffer))

(defun orgctx--ensure-file ()
  "Make sure that this Org buffer and its file on disk agree."
  (unless (derived-mode-p 'org-mode)
    (user-error "Not an Org buffer: %s" (buffer-name)))
  (unless buffer-file-name
    (user-error "Buffer %s visits no file, and orgctx reads files"
                (buffer-name)))
  (unless (verify-visited-file-modtime)
    (user-error "File of %s changed on disk; revert or save the buffer first"
                (buffer-name)))
  (when (buffer-modified-p)
    (orgctx--save)))

(defun orgctx--line (source)
  "Return the line of SOURCE in the whole file."
  (org-with-point-at source
    (line-number-at-pos)))

(defun orgctx--title (source)
  "Return the title of the headline at SOURCE, or the file's name above all."
  (org-with-point-at source
    (if (org-before-first-heading-p)
        (file-name-nondirectory buffer-file-name)
      (substring-no-properties
       (org-link-display-format (org-get-heading t t t t))))))

;;;###autoload
(defun orgctx-focus-string (&optional source)
  "Return the view of the Org node at point, or at the marker SOURCE.
The view is an Org document of at most `orgctx-budget' tokens.
Offer to save the note if it is modified.  Signal a `user-error'
if there is no view."
  (let ((source (or source (orgctx--source))))
    (with-current-buffer (marker-buffer source)
      (orgctx--ensure-file)
      (let ((default-directory (file-name-directory buffer-file-name)))
        (orgctx--run (orgctx--arguments (orgctx--line source)))))))

;;; The view

(defvar-local orgctx--view-source nil
  "Marker at the node that this buffer is a view of.")

(defvar orgctx-view-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "g" #'revert-buffer)
    (define-key map "q" #'quit-window)
    map)
  "Keys of a view.")

(define-minor-mode orgctx-view-mode
  "Mark this buffer as a view of an Org node, to be read and not edited."
  :lighter " orgctx"
  :interactive nil
  (setq buffer-read-only orgctx-view-mode)
  (setq-local revert-buffer-function #'orgctx--refresh))

(defun orgctx--org-mode ()
  "Turn on Org mode so that neither the text nor a hook can run anything.
Local variables have no effect where there is no file.  Your own
additions belong on `orgctx-view-mode-hook'."
  (let ((org-inhibit-startup t)
        (org-mode-hook nil)
        (outline-mode-hook nil)
        (text-mode-hook nil))
    (org-mode)))

(defun orgctx--fill (text source)
  "Make this buffer show TEXT, the view of the node at SOURCE."
  (let ((inhibit-read-only t))
    (erase-buffer)
    (insert text))
  (setq default-directory
        (buffer-local-value 'default-directory (marker-buffer source)))
  (orgctx--org-mode)
  (setq orgctx--view-source source)
  (orgctx-view-mode)
  (set-buffer-modified-p nil)
  (goto-char (point-min)))

(defun orgctx--refresh (&rest _)
  "Ask again for the view in this buffer."
  (unless (marker-buffer orgctx--view-source)
    (user-error "The note's buffer was killed; visit it, then `orgctx-focus'"))
  (orgctx--fill (orgctx-focus-string orgctx--view-source) orgctx--view-source))

;;;###autoload
(defun orgctx-focus (&optional copy)
  "Show the Org node at point in context, within `orgctx-budget' tokens.
With prefix argument COPY, put the view into the kill ring instead."
  (interactive "P")
  (let* ((source (orgctx--source))
         (text (orgctx-focus-string source))
         (title (orgctx--title source)))
    (if copy
        (progn (kill-new text)
               (message "Copied %d characters: %s" (length text) title))
      (with-current-buffer (get-buffer-create (format "*orgctx: %s*" title))
        (orgctx--fill text source)
        (pop-to-buffer (current-buffer))))))

(provide 'orgctx)
;;; orgctx.el ends here
