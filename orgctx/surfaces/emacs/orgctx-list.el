;;; orgctx-list.el --- Listings of Org notes, collections, status  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `orgctx-ls' goes down from the roots to a headline, level by level.
;; `orgctx-collections' arranges collections in ranks.  `orgctx-status' says
;; what is known of the notes, and what is wrong in them.

;;; Code:

(require 'orgctx)
(require 'orgctx-view)

(defvar-local orgctx--redraw nil
  "The function that asks again for what this buffer shows.")

(defvar orgctx-list-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map "n" #'next-line)
    (define-key map "p" #'previous-line)
    map)
  "Keys of all listings.")

(define-derived-mode orgctx-list-mode special-mode "orgctx"
  "Major mode of what the program orgctx lists.  Each line has a row."
  (setq truncate-lines t)
  (setq-local revert-buffer-function
              (lambda (&rest _) (funcall orgctx--redraw))))

(defun orgctx--list (name mode redraw function)
  "Fill the buffer NAME, in MODE, by FUNCTION, and show it.
REDRAW asks again for what it shows.  Point stays in its line."
  (let ((from default-directory))
    (with-current-buffer (get-buffer-create name)
      (unless (derived-mode-p mode)
        (funcall mode))
      (setq default-directory from
            orgctx--redraw redraw)
      (let ((line (line-number-at-pos))
            (inhibit-read-only t))
        (erase-buffer)
        (funcall function)
        (goto-char (point-min))
        (forward-line (1- line)))
      (pop-to-buffer (current-buffer)))))

(defun orgctx--insert-row (row text)
  "Insert TEXT as a line that stands for ROW."
  (insert (propertize text 'orgctx-row row) "\n"))

(defun orgctx--row ()
  "Return the row in this line."
  (or (get-text-property (line-beginning-position) 'orgctx-row)
      (user-error "Nothing in this line")))

(defun orgctx--count (number what)
  "Return NUMBER and WHAT is counted, as words."
  (format "%d %s%s" number what (if (= number 1) "" "s")))

;;; Going down

(defvar-local orgctx--path ""
  "The address that this buffer lists; empty for the roots.")

(defvar-local orgctx--above nil
  "The addresses by which one came here, the nearest first.")

(defvar orgctx-ls-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map orgctx-list-mode-map)
    (define-key map (kbd "RET") #'orgctx-ls-enter)
    (define-key map "^" #'orgctx-ls-up)
    (define-key map "f" #'orgctx-ls-focus)
    (define-key map "o" #'orgctx-ls-visit)
    map)
  "Keys of a listing of notes.")

(define-derived-mode orgctx-ls-mode orgctx-list-mode "orgctx-ls"
  "Major mode of a listing of notes, one level at a time.")

;;;###autoload
(defun orgctx-ls (&optional path)
  "List the notes one level below PATH, by default the roots.
With prefix argument, ask for PATH: a folder, a file or any address.
\\<orgctx-ls-mode-map>\\[orgctx-ls-enter] goes down, \\[orgctx-ls-up] up; \
\\[orgctx-ls-focus] shows the view of a line, \\[orgctx-ls-visit] visits it."
  (interactive (list (and current-prefix-arg (read-string "List: "))))
  (orgctx--ls (or path "") nil))

(defun orgctx--ls (path above)
  "List what is below PATH, to which one came by the addresses ABOVE."
  (orgctx--ask-json
   `("ls" "--format" "json" ,@(orgctx--note-arguments) "--" ,path)
   (lambda (listing)
     (orgctx--list "*orgctx ls*" #'orgctx-ls-mode
                   (lambda () (orgctx--ls path above))
                   (lambda () (orgctx--fill-ls listing path above))))))

(defun orgctx--fill-ls (listing path above)
  "Show LISTING of what is below PATH, to which one came by ABOVE."
  (unless (equal path orgctx--path)
    (goto-char (point-min)))
  (setq orgctx--path path
        orgctx--above above)
  (setq header-line-format
        (format " %s   RET down  ^ up  f focus  o visit  g refresh"
                (if (string-empty-p path) "roots"
                  (string-replace "%" "%%" path))))
  (orgctx--insert-listing listing))

(defun orgctx--insert-listing (listing)
  "Insert the rows of LISTING, and a line for each kind of which there are more."
  (let-alist listing
    (dolist (row .rows)
      (orgctx--insert-row row (orgctx--ls-line row)))
    (dolist (rest .rest)
      (let-alist rest
        (orgctx--insert-row
         rest (format "… %s" (orgctx--count .more (concat "more " .kind))))))))

(defun orgctx--ls-line (row)
  "Return the line of ROW: name, counts, and what it is about."
  (let-alist row
    (let ((tags (and .tags (format " :%s:" (string-join .tags ":")))))
      (string-join
       (seq-remove
        #'string-empty-p
        (list (concat (and .todo (concat .todo " "))
                      (propertize (orgctx--one-line
                                   (if (member .kind '("file" "headline"))
                                       .title .address))
                                  'face 'link)
                      tags)
              (concat (unless (member .kind '("file" "headline"))
                        (concat (orgctx--count .files "file") ", "))
                      (orgctx--count .headlines "headline")
                      (and .tokens
                           (concat ", " (orgctx--count .tokens "token"))))
              (propertize (orgctx--one-line (or .summary ""))
                          'face 'shadow)))
       " — "))))

(defun orgctx--one-line (text)
  "Return TEXT without its line ends."
  (string-replace "\n" " " text))

(defun orgctx-ls-enter ()
  "Go down to what this line names; show the view of a headline without children.
On a line that counts more, list those, too."
  (interactive)
  (let-alist (orgctx--row)
    (cond (.more (orgctx--ls-more .kind))
          ((and (equal .kind "headline") (= .headlines 0)) (orgctx-ls-focus))
          (t (orgctx--ls .address (cons orgctx--path orgctx--above))))))

(defun orgctx--ls-more (kind)
  "Put the next rows of KIND in place of this line."
  (let ((buffer (current-buffer))
        (row (orgctx--row))
        (line (copy-marker (line-beginning-position)))
        (last (save-excursion
                (forward-line -1)
                (while (not (equal (alist-get 'kind (orgctx--row)) kind))
                  (forward-line -1))
                (alist-get 'address (orgctx--row)))))
    (orgctx--ask-json
     `("ls" "--format" "json" ,@(orgctx--note-arguments)
       ,@(unless (member kind '("headline" "root")) (list "--kind" kind))
       "--after" ,last "--" ,orgctx--path)
     (lambda (listing)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (goto-char line)
           ;; Unless the buffer shows something else by now.
           (when (eq (get-text-property line 'orgctx-row) row)
             (let ((inhibit-read-only t))
               (delete-region line (line-beginning-position 2))
               (save-excursion (orgctx--insert-listing listing))))))))))

(defun orgctx-ls-up ()
  "List the level from which one came here."
  (interactive)
  (unless orgctx--above
    (user-error "This is where it began"))
  (orgctx--ls (car orgctx--above) (cdr orgctx--above)))

(defun orgctx-ls-focus ()
  "Show the view of the file or headline in this line."
  (interactive)
  (orgctx-focus-address (orgctx--node-of-row)))

(defun orgctx-ls-visit ()
  "Visit the file or headline in this line."
  (interactive)
  (orgctx--visit (orgctx--node-of-row)))

(defun orgctx--node-of-row ()
  "Return the address of the node in this line."
  (let-alist (orgctx--row)
    (if (and (not .more) (member .kind '("file" "headline")))
        .address
      (user-error "This is no file and no headline"))))

;;; Collections

(defvar-local orgctx--ranks nil
  "The collections as they are arranged here: a list of ranks, lists of rows.")

(defvar-local orgctx--moves nil
  "The moves that are not saved: lists of arguments, the newest first.")

(defvar orgctx-collections-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map orgctx-list-mode-map)
    (define-key map (kbd "M-<up>") #'orgctx-collections-up)
    (define-key map (kbd "M-<down>") #'orgctx-collections-down)
    (define-key map "u" #'orgctx-collections-up)
    (define-key map "d" #'orgctx-collections-down)
    (define-key map "+" #'orgctx-collections-split)
    (define-key map "s" #'orgctx-collections-save)
    (define-key map (kbd "C-x C-s") #'orgctx-collections-save)
    map)
  "Keys of the collections.")

(define-derived-mode orgctx-collections-mode orgctx-list-mode "orgctx-collections"
  "Major mode of collections in ranks.")

;;;###autoload
(defun orgctx-collections ()
  "Show the collections in their ranks, to be arranged.
\\<orgctx-collections-mode-map>\\[orgctx-collections-up] and \
\\[orgctx-collections-down] move the collection in this line to the rank
above or below, \\[orgctx-collections-split] to a new one of its own;
\\[orgctx-collections-save] saves, \\[revert-buffer] drops what is not saved."
  (interactive)
  (orgctx--ask-json `("collections" ,@(orgctx--root-arguments) "--format" "json"
                      "--budget" ,(number-to-string most-positive-fixnum))
                    #'orgctx--show-collections))

(defun orgctx--show-collections (data)
  "Show the collections in DATA."
  (let ((ranks (mapcar #'cdr (seq-group-by
                              (lambda (row) (alist-get 'rank row))
                              (alist-get 'collections data))))
        (rest (alist-get 'in_none data)))
    (orgctx--list "*orgctx collections*" #'orgctx-collections-mode
                  #'orgctx-collections
                  (lambda ()
                    (setq orgctx--ranks ranks
                          orgctx--moves nil)
                    (orgctx--draw-collections)
                    (let-alist rest
                      (insert (format "\nin no collection — %s, %s\n"
                                      (orgctx--count .files "file")
                                      (orgctx--count .headlines "headline"))))))))

(defun orgctx--draw-collections ()
  "Draw the ranks and their collections into this empty buffer."
  (setq header-line-format
        (concat " u up  d down  + own rank  s save  g as saved"
                (and orgctx--moves "   not saved")))
  (unless orgctx--ranks
    (insert "no collections: see [[collections]] of orgctx.toml\n"))
  (seq-do-indexed
   (lambda (rank number)
     (insert (propertize (format "rank %d\n" number) 'face 'bold))
     (dolist (row rank)
       (let-alist row
         (orgctx--insert-row
          row (format "  %s — %s, %s — %s" .name
                      (orgctx--count .files "file")
                      (orgctx--count .headlines "headline")
                      (string-join .paths ", "))))))
   orgctx--ranks))

(defun orgctx--move (row ranks &rest place)
  "Move the collection ROW so that there are RANKS; PLACE are the arguments for it."
  (push (cons (alist-get 'name row) place) orgctx--moves)
  (setq orgctx--ranks (remq nil ranks))
  (let ((inhibit-read-only t))
    (goto-char (point-min))
    (delete-region (point) (save-excursion
                             (goto-char (point-max))
                             (forward-line -2)
                             (point)))
    (orgctx--draw-collections)
    (goto-char (text-property-any (point-min) (point-max) 'orgctx-row row))))

(defun orgctx--rank-of (row)
  "Return the number of the rank in which ROW is here."
  (seq-position orgctx--ranks row (lambda (rank row) (memq row rank))))

(defun orgctx--without (row)
  "Return the ranks as they are here, without ROW; one may be empty."
  (mapcar (lambda (rank) (remq row rank)) orgctx--ranks))

(defun orgctx--move-to (row number)
  "Move ROW into the rank NUMBER, which there is."
  (let ((ranks (orgctx--without row)))
    (setf (nth number ranks) (append (nth number ranks) (list row)))
    (orgctx--move row ranks "--to" (number-to-string number))))

(defun orgctx-collections-up ()
  "Move the collection in this line to the rank above."
  (interactive)
  (let* ((row (orgctx--row)) (number (orgctx--rank-of row)))
    (if (> number 0)
        (orgctx--move-to row (1- number))
      (orgctx--split row "--before"))))

(defun orgctx-collections-down ()
  "Move the collection in this line to the rank below."
  (interactive)
  (let* ((row (orgctx--row)) (number (orgctx--rank-of row)))
    (if (< number (1- (length orgctx--ranks)))
        (orgctx--move-to row (1+ number))
      (orgctx--split row "--after"))))

(defun orgctx-collections-split ()
  "Move the collection in this line to a new rank of its own, below its rank."
  (interactive)
  (orgctx--split (orgctx--row) "--after"))

(defun orgctx--split (row where)
  "Move ROW to a rank of its own, WHERE: \"--before\" or \"--after\" its rank."
  (let* ((number (orgctx--rank-of row))
         (others (remq row (nth number orgctx--ranks)))
         (ranks (orgctx--without row))
         (at (if (equal where "--before") number (1+ number))))
    (unless others
      (user-error "It has this rank for itself"))
    (orgctx--move row
                  (append (seq-take ranks at) (list (list row))
                          (seq-drop ranks at))
                  where (alist-get 'name (car others)))))

(defun orgctx-collections-save ()
  "Save the arrangement, move by move, as the program does."
  (interactive)
  (unless orgctx--moves
    (user-error "Nothing to save"))
  (orgctx--save-moves (reverse orgctx--moves) nil))

(defun orgctx--save-moves (left data)
  "Have the program do what is LEFT; then show the collections in DATA.
If one fails, show what is saved, and what is wrong."
  (pcase left
    ('nil (orgctx--show-collections data)
          (message "Saved"))
    (`((,name . ,place) . ,rest)
     (orgctx--ask-json
      `("collections" "move" ,@(orgctx--root-arguments) "--format" "json"
        "--budget" ,(number-to-string most-positive-fixnum)
        ,@place "--" ,name)
      (lambda (data) (orgctx--save-moves rest data))
      :else (lambda (problem)
              (orgctx--ask-json
               `("collections" ,@(orgctx--root-arguments) "--format" "json"
                 "--budget" ,(number-to-string most-positive-fixnum))
               (lambda (data)
                 (orgctx--show-collections data)
                 (orgctx--complain problem))))))))

;;; Status

(defvar orgctx-status-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map orgctx-list-mode-map)
    (define-key map (kbd "RET") #'orgctx-status-visit)
    map)
  "Keys of the status.")

(define-derived-mode orgctx-status-mode orgctx-list-mode "orgctx-status"
  "Major mode of what is known of the notes, and what is wrong.")

;;;###autoload
(defun orgctx-status ()
  "Show what is known of the notes: roots, counts, problems, the store.
\\<orgctx-status-mode-map>\\[orgctx-status-visit] visits a problem."
  (interactive)
  (orgctx--ask-json
   `("status" "--format" "json"
     "--budget" ,(number-to-string most-positive-fixnum) "--"
     ,@(remove "--root" (orgctx--root-arguments)))
   (lambda (data)
     (orgctx--list "*orgctx status*" #'orgctx-status-mode #'orgctx-status
                   (lambda () (orgctx--draw-status data))))))

(defun orgctx--draw-status (data)
  "Draw the status DATA into this empty buffer."
  (let-alist data
    (dolist (root .roots)
      (let-alist root
        (insert (format "%s — %s, %s (%s)\n" .name
                        (orgctx--count .files "file")
                        (orgctx--count .headlines "headline") .folder))))
    (insert (format "%s, %d of them on several nodes\n"
                    (orgctx--count .ids "ID") .duplicates))
    (when .store
      (insert (format "store: %s, %.1f MB\n" .store (/ .store_bytes 1e6))))
    (insert (orgctx--count .problem_count "problem") "\n")
    (dolist (problem .problems)
      (let-alist problem
        (orgctx--insert-row
         problem (format "  %s%s: %s" .path
                         (if (> .line 0) (format ":%d" .line) "") .what))))))

(defun orgctx-status-visit ()
  "Visit the file and the line of the problem in this line."
  (interactive)
  (let-alist (orgctx--row)
    (orgctx--visit (if (> .line 0) (format "%s:%d" .path .line) .path))))

(provide 'orgctx-list)
;;; orgctx-list.el ends here
