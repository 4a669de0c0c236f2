;;; orgctx-work.el --- Working copies of Org notes: diff and commit  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; An agent edits notes in a copy of its own.  `orgctx-work-diff' shows what
;; it edited; `orgctx-work-commit' brings that into the notes.

;;; Code:

(require 'orgctx)
(require 'orgctx-list)
(require 'diff-mode)

(defvar-local orgctx--copy nil
  "The working copy that this buffer shows: an alist.")

(defun orgctx--read-copy ()
  "Return a working copy as an alist; ask which if there are several."
  (or orgctx--copy
      (let ((copies (orgctx--copies)))
        (pcase (length copies)
          (0 (user-error "No working copy: orgctx work open makes one"))
          (1 (car copies))
          (_ (let ((id (completing-read "Working copy: "
                                        (mapcar #'orgctx--copy-id copies)
                                        nil t)))
               (seq-find (lambda (copy) (equal (orgctx--copy-id copy) id))
                         copies)))))))

(defun orgctx--copies ()
  "Return all working copies as alists."
  (condition-case problem
      (alist-get 'copies (orgctx--parse
                          (orgctx--answer
                           ;; All of it: a person chooses among them.
                           `("work" "status" "--format" "json"
                             "--budget"
                             ,(number-to-string most-positive-fixnum)))))
    (orgctx-error (user-error "%s" (orgctx-explain (cdr problem))))))

(defun orgctx--copy-id (copy)
  "Return the name of COPY."
  (alist-get 'id copy))

;;; Diff

(defvar orgctx-work-diff-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "c" #'orgctx-work-commit)
    (define-key map "g" #'revert-buffer)
    (define-key map "q" #'quit-window)
    map)
  "Keys of a working copy's diff.")

(define-minor-mode orgctx-work-diff-mode
  "Mark this buffer as what was edited in a working copy."
  :lighter " orgctx"
  :interactive nil
  (setq buffer-read-only orgctx-work-diff-mode)
  (setq-local revert-buffer-function
              (lambda (&rest _) (orgctx-work-diff orgctx--copy)))
  (setq header-line-format " c commit  RET visit in the copy  g refresh  q quit"))

;;;###autoload
(defun orgctx-work-diff (copy)
  "Show what was edited in the working COPY, an alist of `work status'.
\\<orgctx-work-diff-mode-map>\\[orgctx-work-commit] commits it."
  (interactive (list (orgctx--read-copy)))
  (orgctx--ask-json
   ;; All of it: a person reads it here, who commits what is shown.
   `("work" "diff" "--format" "json"
     "--budget" ,(number-to-string most-positive-fixnum)
     "--" ,(orgctx--copy-id copy))
   (lambda (data) (orgctx--show-diff copy (alist-get 'edited data)))))

(defun orgctx--show-diff (copy edited)
  "Show in a buffer the patches of what was EDITED in COPY."
  (let ((host (file-remote-p default-directory)))
    (with-current-buffer
        (get-buffer-create (format "*orgctx work: %s*" (orgctx--copy-id copy)))
      (let ((inhibit-read-only t))
        (erase-buffer)
        (dolist (each edited)
          (insert (alist-get 'patch each))))
      (diff-mode)
      (setq orgctx--copy copy
            default-directory (file-name-as-directory
                               (concat host (alist-get 'folder copy))))
      (orgctx-work-diff-mode)
      (set-buffer-modified-p nil)
      (goto-char (point-min))
      (pop-to-buffer (current-buffer))
      (unless edited
        (message "Nothing was edited in %s" (orgctx--copy-id copy))))))

;;; Commit

(defvar orgctx-work-outcome-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map orgctx-list-mode-map)
    (define-key map (kbd "RET") #'orgctx-work-visit)
    map)
  "Keys of what became of a commit.")

(define-derived-mode orgctx-work-outcome-mode orgctx-list-mode "orgctx-work"
  "Major mode of what became of each path of a commit.")

;;;###autoload
(defun orgctx-work-commit (copy message)
  "Bring what was edited in the working COPY into the notes, with MESSAGE.
COPY is an alist of `work status'.  Show what became of each path; what
is in conflict or refused is still in the copy."
  (interactive
   (let ((copy (orgctx--read-copy)))
     (list copy (read-string (format "Commit %s, what was done: "
                                     (orgctx--copy-id copy))))))
  (orgctx--ask-json
   `("work" "commit" "--format" "json" "--message" ,message
     "--budget" ,(number-to-string most-positive-fixnum)
     "--" ,(orgctx--copy-id copy))
   (lambda (data)
     (orgctx--show-outcomes copy (alist-get 'outcomes data)))))

(defun orgctx--show-outcomes (copy outcomes)
  "Show what became of COPY's edits: OUTCOMES, a list of alists."
  (let ((default-directory (orgctx--notes-of copy)))
    (orgctx--list
     "*orgctx commit*" #'orgctx-work-outcome-mode
     (lambda () (user-error "A commit is made once"))
     (lambda ()
       (setq header-line-format " RET visit  q quit")
       (dolist (outcome outcomes)
         (let-alist outcome
           (orgctx--insert-row
            outcome
            (concat (propertize .what 'face
                                (if (member .what '("conflict" "refused"))
                                    'error 'success))
                    " " .path
                    (unless (string-empty-p .why) (concat ": " .why))))))))
    (message "%s" (orgctx--counted outcomes))))

(defun orgctx--notes-of (copy)
  "Return the folder of the notes of which COPY is one, as seen from here."
  (file-name-as-directory
   (concat (file-remote-p default-directory)
           (cdar (alist-get 'roots copy)))))

(defun orgctx--counted (outcomes)
  "Return how many OUTCOMES there are of each kind, in words."
  (if (null outcomes)
      "Nothing was edited"
    (mapconcat (lambda (group) (format "%d %s" (length (cdr group)) (car group)))
               (seq-group-by (lambda (outcome) (alist-get 'what outcome))
                             outcomes)
               ", ")))

(defun orgctx-work-visit ()
  "Visit the note in this line, where it is in conflict if it is."
  (interactive)
  (let-alist (orgctx--row)
    (orgctx--visit (or (alist-get 'address (car .conflicts)) .path))))

(provide 'orgctx-work)
;;; orgctx-work.el ends here
