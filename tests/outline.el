;;; outline.el --- what Emacs itself reads in Org files, as JSON lines  -*- lexical-binding: t -*-

;; usage: emacs --batch -Q -l outline.el -f oracle-outlines FOLDER OUT LINE-ENDS
;;
;; Reads every Org file of FOLDER, in the order of their names, and writes to OUT one JSON
;; object per line: for each file one of level 0, then one for each headline.  LINE-ENDS is
;; "detect" (as visiting the file would) or "lf" (a line ends in "\n" and in nothing else).
;; Nothing in a file is evaluated, and nothing but the file is opened.

;;; Code:

(require 'json)
(require 'org)
(require 'org-element)
(require 'subr-x)

;; A note may name other files, hosts and programs: none of them is for the oracle.
(setq enable-dir-local-variables nil
      enable-local-eval nil
      enable-local-variables nil
      exec-path nil                     ; no programs
      file-name-handler-alist nil       ; no remote names, no decompression
      large-file-warning-threshold nil
      org-agenda-files nil
      org-inhibit-startup t
      org-inlinetask-min-level nil
      org-mode-hook nil
      org-modules nil
      vc-handled-backends nil)
(advice-add 'org-file-contents :override #'ignore)              ; #+SETUPFILE
(advice-add 'org-macro-initialize-templates :override #'ignore) ; (eval ...) in #+MACRO
(dolist (network '(open-network-stream url-retrieve))
  (advice-add network :override (lambda (&rest _) (error "The oracle has no network"))))

;; Every file is read once, and nobody looks at it.
(setq gc-cons-threshold (* 256 1024 1024)
      org-element-use-cache nil)
(advice-add 'org-set-font-lock-defaults :override #'ignore)

(defvar oracle-line-ends "detect" "How files are read: \"detect\" or \"lf\".")

(defun oracle-coding (file)
  "Return the coding system to read FILE with.
Not `utf-8-auto': it drops a byte order mark too, but in files without one it forgets to
look for \"\\r\\n\" as soon as there is a letter outside ASCII."
  (let* ((mark (with-temp-buffer
                 (set-buffer-multibyte nil)
                 (insert-file-contents-literally file nil 0 3)
                 (buffer-string)))
         (coding (if (equal mark "\xef\xbb\xbf") 'utf-8-with-signature 'utf-8)))
    (if (equal oracle-line-ends "lf")
        (coding-system-change-eol-conversion coding 'unix)
      coding)))

(defun oracle-read (file)
  "Make the current buffer hold FILE in Org mode; return the coding system found."
  (let ((coding-system-for-read (oracle-coding file)))
    (insert-file-contents file))
  (prog1 last-coding-system-used
    (delay-mode-hooks (org-mode))))

(defun oracle-rows (rows file number)
  "Return what ROWS gives for FILE, each row marked with its NUMBER as `f'.
An error is a row too."
  (mapcar (lambda (row) `((f . ,number) ,@row))
          (condition-case problem
              (with-temp-buffer (funcall rows (oracle-read file)))
            (error `(((error . ,(format "%S" problem))))))))

(defun oracle-main (rows)
  "Write what ROWS gives for each file of the folder named on the command line.
ROWS is called in a file's own buffer, with its coding system, and returns alists."
  (pcase-let ((`(,folder ,out ,line-ends) command-line-args-left)
              (number 0)
              (coding-system-for-write 'utf-8-unix))
    (setq command-line-args-left nil
          oracle-line-ends line-ends)
    (with-temp-buffer
      (dolist (file (directory-files folder t "\\.org\\'"))
        (dolist (row (oracle-rows rows file number))
          (insert (json-encode row) "\n"))
        (setq number (1+ number)))
      (write-region nil nil out nil 'silent))))

(defun oracle-strings (strings)
  "Return STRINGS as a vector, without text properties."
  (vconcat (mapcar #'substring-no-properties strings)))

(defun oracle-drawer ()
  "Return (BEGIN END KEY...) of the property drawer at point, or nil."
  (when (looking-at org-property-drawer-re)
    (let ((begin (point)) (end (match-end 0)) keys)
      (while (progn (forward-line) (< (line-end-position) end))
        (when (looking-at org-property-re)
          (push (match-string-no-properties 2) keys)))
      `(,begin ,(min (1+ end) (point-max)) ,@(nreverse keys)))))

(defun oracle-without-comments (text)
  "Return TEXT without the lines that look like comments."
  (replace-regexp-in-string "^[ \t]*#\\(?: .*\\)?\\(?:\n\\|\\'\\)" "" text t t))

(defun oracle-section ()
  "Return (KEYS . BODY) of the entry whose headline is at point.
KEYS are its property drawer's.  BODY is its own text: without children, without that
drawer and without comments."
  (save-excursion
    (forward-line)
    (let* ((begin (point))
           (end (save-excursion
                  (if (re-search-forward "^\\*+ " nil t) (match-beginning 0) (point-max))))
           (drawer (progn (when (looking-at-p org-planning-line-re) (forward-line))
                          (oracle-drawer)))
           (text (if (not drawer)
                     (buffer-substring-no-properties begin end)
                   (concat (buffer-substring-no-properties begin (nth 0 drawer))
                           (buffer-substring-no-properties (nth 1 drawer) end)))))
      (cons (nthcdr 2 drawer) (oracle-without-comments text)))))

(defun oracle-headline-row (headline line)
  "Return the row of HEADLINE, which stands on LINE, at point."
  (let ((todo (org-element-property :todo-keyword headline))
        (priority (org-element-property :priority headline))
        (section (oracle-section)))
    `((line . ,line)
      ;; Not `:level': #+STARTUP: odd halves that.
      (level . ,(save-excursion (skip-chars-forward "*")))
      (todo . ,(and todo (substring-no-properties todo)))
      (pri . ,(and priority (char-to-string priority)))
      (title . ,(substring-no-properties (org-element-property :raw-value headline)))
      (tags . ,(oracle-strings (org-element-property :tags headline)))
      (id . ,(org-element-property :ID headline))
      (cid . ,(org-element-property :CUSTOM_ID headline))
      (commented . ,(if (org-element-property :commentedp headline) t :json-false))
      (keys . ,(vconcat (car section)))
      (body . ,(cdr section)))))

(defun oracle-headline-rows ()
  "Return the rows of all headlines of the buffer, in order."
  (let ((line 1) (seen (point-min)))
    (org-element-map (org-element-parse-buffer 'headline) 'headline
      (lambda (headline)
        (goto-char (org-element-property :begin headline))
        (setq line (+ line (count-lines seen (point))) ; from the last one, not from the top
              seen (point))
        (oracle-headline-row headline line)))))

(defun oracle-element-id ()
  "Return the ID in the file's own drawer as `org-element' reads it, or nil.
It takes the last of two IDs, and since Org 9.6 it allows blank lines above; `org-entry-get'
does neither."
  (save-restriction
    (goto-char (point-min))
    (narrow-to-region (point) (if (re-search-forward "^\\*+ " nil t)
                                  (match-beginning 0)
                                (point-max)))
    (let ((drawer (org-element-map (org-element-parse-buffer 'element) 'property-drawer
                    #'identity nil t)))
      (car (last (org-element-map drawer 'node-property
                   (lambda (property)
                     (and (equal (upcase (org-element-property :key property)) "ID")
                          (org-element-property :value property)))))))))

(defun oracle-file-row (coding)
  "Return the row of the file itself, which was read with CODING."
  (goto-char (point-min))
  `((level . 0)
    (eol . ,(pcase (coding-system-eol-type coding) (0 "unix") (1 "dos") (2 "mac")))
    (id . ,(and (org-before-first-heading-p) (org-entry-get nil "ID")))
    (element_id . ,(oracle-element-id))
    (keywords . ,(oracle-strings org-todo-keywords-1))
    (done . ,(oracle-strings org-done-keywords))
    (tags . ,(oracle-strings org-file-tags))))

(defun oracle-outlines ()
  "Entry point: dump the outlines of a folder's files."
  (oracle-main (lambda (coding) (cons (oracle-file-row coding) (oracle-headline-rows)))))

;;; outline.el ends here
