;;; orgctx-view.el --- Views of Org notes: show, copy, insert, send  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A view opens in an Org buffer in which RET visits the node at point, TAB on
;; an omission mark expands it, + and - change the budget, and g refreshes.
;; The header line shows what the view costs.  A context bundle, the answer to
;; a question, is such a buffer too.

;;; Code:

(require 'orgctx)
(require 'org)

(defcustom orgctx-send-function #'kill-new
  "What `orgctx-focus-send' calls with a view: any function of a string."
  :group 'orgctx
  :type 'function
  :risky t)

;;; What is asked

(cl-defstruct (orgctx--query (:copier nil))
  "What a view is of.
SOURCE: a marker in a note, or nil.  FILE, LINE: where that was last.
DIRECTORY: where it is asked.  ADDRESSES: further nodes; without SOURCE
the first is the target.  BUDGET, LENS: as the options have them."
  source file line directory addresses budget lens)

(defun orgctx--read-limits (ask)
  "Return budget and lens for a new view, as a list; ask for them if ASK."
  (if ask
      (list (read-number "Budget in tokens: " orgctx-budget)
            (intern (completing-read "Lens: " '("foveal" "fisheye") nil t nil
                                     nil (symbol-name orgctx-lens))))
    (list orgctx-budget orgctx-lens)))

(defun orgctx--query-here (ask)
  "Return the query for the node at point; ASK for budget and lens if non-nil."
  (let ((source (orgctx--source)))
    (pcase-let ((`(,budget ,lens) (orgctx--read-limits ask)))
      (make-orgctx--query
       :source source :budget budget :lens lens
       :file (orgctx--at source buffer-file-name)
       :line (orgctx--at source (line-number-at-pos))
       :directory (orgctx--at source default-directory)))))

(defun orgctx--query-of (address)
  "Return the query for the node at ADDRESS, as seen from this buffer."
  (make-orgctx--query :directory default-directory :addresses (list address)
                      :budget orgctx-budget :lens orgctx-lens))

(defun orgctx--settle (query)
  "Make sure that the note of QUERY's source is in a buffer; note its line."
  (pcase-let (((cl-struct orgctx--query source file line) query))
    (when source
      (unless (marker-buffer source)
        (with-current-buffer (find-file-noselect file)
          (save-restriction
            (widen)
            (save-excursion
              (goto-char (point-min))
              (forward-line (1- line))
              (set-marker source (point) (current-buffer))))))
      (setf (orgctx--query-line query)
            (orgctx--at source (line-number-at-pos))))))

(defun orgctx--call-from (query function)
  "Call FUNCTION where QUERY is asked from.
Its argument is the unsaved text of the note there, as bytes, or nil."
  (orgctx--settle query)
  (if-let ((source (orgctx--query-source query)))
      (orgctx--at source
        (funcall function (orgctx--unsaved-bytes)))
    (let ((default-directory (orgctx--query-directory query)))
      (funcall function nil))))

(defun orgctx--ask-view (query then &optional else)
  "Ask for the view of QUERY; call THEN with it as an alist.
If there is none, call ELSE, by default to show what is wrong."
  (orgctx--call-from
   query
   (lambda (bytes)
     (pcase-let (((cl-struct orgctx--query source addresses budget lens) query))
       (orgctx--ask-json
        `("focus" "--format" "json" ,@(orgctx--view-arguments budget lens)
          ,@(if source
                (orgctx--node-arguments bytes addresses)
              (cons "--" addresses)))
        then :input bytes :else (or else #'orgctx--complain))))))

;;; The commands

;;;###autoload
(defun orgctx-focus (&optional ask)
  "Show the Org node at point in context, within a budget.
With prefix argument ASK, ask for budget and lens.  In the view:
\\<orgctx-view-mode-map>
\\[orgctx-view-visit] visits the node at point, \\[orgctx-view-cycle] on an \
omission mark expands it,
\\[orgctx-view-more] and \\[orgctx-view-less] change the budget, \
\\[revert-buffer] refreshes."
  (interactive "P")
  (let ((query (orgctx--query-here ask)))
    (orgctx--show-view query (orgctx--at (orgctx--query-source query)
                               (orgctx--title)))))

;;;###autoload
(defun orgctx-focus-copy (&optional ask)
  "Put the view of the Org node at point on the kill ring.
With prefix argument ASK, ask for budget and lens."
  (interactive "P")
  (orgctx--ask-view (orgctx--query-here ask) #'orgctx--copy-view))

(defun orgctx--copy-view (view)
  "Put the text of VIEW on the kill ring, and tell what it costs."
  (let-alist view
    (kill-new .text)
    (message "Copied %d %s" .tokens .unit)))

;;;###autoload
(defun orgctx-focus-insert (buffer &optional ask)
  "Insert the view of the Org node at point into BUFFER, at its point.
When called interactively, ask for BUFFER; with prefix argument ASK,
for budget and lens, too."
  (interactive
   (list (read-buffer "Insert the view into: "
                      (window-buffer (next-window)) t)
         current-prefix-arg))
  (let ((buffer (get-buffer buffer)))
    (with-current-buffer buffer
      (barf-if-buffer-read-only))
    (orgctx--ask-view (orgctx--query-here ask)
                      (lambda (view) (orgctx--insert view buffer)))))

(defun orgctx--insert (view buffer)
  "Insert the text of VIEW into BUFFER, where its window has point."
  (if (not (buffer-live-p buffer))
      (message "The buffer is gone")
    (let ((window (get-buffer-window buffer t)))
      (with-selected-window (or window (selected-window))
        (with-current-buffer buffer
          (let-alist view
            (insert .text)
            (message "Inserted %d %s into %s" .tokens .unit
                     (buffer-name))))))))

;;;###autoload
(defun orgctx-focus-send (&optional ask)
  "Call `orgctx-send-function' with the view of the Org node at point.
With prefix argument ASK, ask for budget and lens."
  (interactive "P")
  (orgctx--ask-view (orgctx--query-here ask)
                    (lambda (view)
                      (funcall orgctx-send-function (alist-get 'text view)))))

;;; The buffer

(defvar-local orgctx--query nil
  "The `orgctx--query' that this buffer answers.")

(defvar-local orgctx--view nil
  "The view in this buffer, as the program gave it: an alist.")

(defvar-local orgctx--pending nil
  "The request for what this buffer is to show next.")

(defvar orgctx-view-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'orgctx-view-visit)
    (define-key map [mouse-2] #'orgctx-view-visit)
    (define-key map (kbd "TAB") #'orgctx-view-cycle)
    (define-key map "+" #'orgctx-view-more)
    (define-key map "-" #'orgctx-view-less)
    (define-key map "w" #'orgctx-view-copy)
    (define-key map "g" #'revert-buffer)
    (define-key map "q" #'quit-window)
    map)
  "Keys of a view.")

(define-minor-mode orgctx-view-mode
  "Mark this buffer as a view of an Org node, to be read and not edited."
  :lighter " orgctx"
  :interactive nil
  (setq buffer-read-only orgctx-view-mode)
  (setq-local revert-buffer-function #'orgctx--refresh)
  (setq header-line-format '(:eval (orgctx--header))))

(defun orgctx--header ()
  "Return the header line of a view: what it costs, and the keys."
  (let-alist orgctx--view
    (format " %s/%s %s  %s  %d nodes%s   RET visit  TAB expand  + - budget  g refresh"
            .tokens .budget .unit (orgctx--query-lens orgctx--query)
            (length .shown)
            (if (orgctx--request-running-p) "  …" ""))))

(defun orgctx--request-running-p ()
  "Say whether a new view is on its way into this buffer."
  (and orgctx--pending (not (orgctx--request-done orgctx--pending))))

(defun orgctx--org-mode ()
  "Turn on Org mode so that neither the text nor a hook can run anything.
Local variables have no effect where there is no file.  Your own
additions belong on `orgctx-view-mode-hook'."
  (let ((org-inhibit-startup t)
        (org-mode-hook nil)
        (outline-mode-hook nil)
        (text-mode-hook nil))
    (org-mode)))

(defun orgctx--show-view (query title)
  "Show the view of QUERY in a buffer named after TITLE."
  (orgctx--ask-view
   query
   (lambda (view)
     (with-current-buffer (get-buffer-create (format "*orgctx: %s*" title))
       (orgctx--fill view query)
       (goto-char (point-min))
       (pop-to-buffer (current-buffer))))))

(defun orgctx--fill (view query)
  "Make this buffer show VIEW, the answer to QUERY."
  (let ((inhibit-read-only t))
    (erase-buffer)
    (insert (alist-get 'text view)))
  (orgctx--org-mode)
  (setq default-directory (orgctx--query-directory query)
        orgctx--query query
        orgctx--view view)
  (orgctx--mark-up)
  (orgctx-view-mode)
  (set-buffer-modified-p nil))

(defun orgctx--mark-up ()
  "Put the address of each node on all lines about it.
Each headline of a view is a node that the program names, in order;
the first that it names is the document."
  (with-silent-modifications
    (let ((shown (alist-get 'shown orgctx--view))
          (open nil))
      (goto-char (point-min))
      (while shown
        (let* ((node (pop shown))
               (stars (orgctx--stars))
               (start (point))
               (end (progn (forward-line)
                           (if (re-search-forward "^\\*+ " nil 'move)
                               (goto-char (line-beginning-position))
                             (point))))
               (next (orgctx--stars)))
          (push (cons stars (alist-get 'address node)) open)
          (orgctx--mark-section start end (cdar open))
          (setq open (orgctx--mark-closing end next open)))))))

(defun orgctx--stars ()
  "Return how many stars the headline at point has; 0 if there is none."
  (if (looking-at "\\(\\*+\\) ")
      (length (match-string 1))
    0))

(defun orgctx--mark-section (start end address)
  "Put ADDRESS on the lines from START to END.
Where text is cut there, the mark is made one of ADDRESS."
  (put-text-property start end 'orgctx-address address)
  (save-excursion
    (goto-char start)
    (orgctx--lure start (line-end-position) "visit")
    (while (re-search-forward "^# … [0-9]+ lines? omitted\r?$" end t)
      (orgctx--mark-omission address))))

(defun orgctx--mark-closing (end next open)
  "Mark the omissions announced before END, where a headline of NEXT stars begins.
OPEN are the nodes above that place, innermost first, each with its
stars.  Return those that are still open behind it.  The last lines are
the marks of those that are closed and announce any, in order."
  (let ((closed (cl-loop while (and open (>= (caar open) next))
                         collect (cdr (pop open)))))
    (save-excursion
      (goto-char end)
      (dolist (address (reverse (seq-filter #'orgctx--announces closed)))
        (forward-line -1)
        (when (looking-at "# … [0-9]+ [a-z]+ omitted\r?$")
          (orgctx--mark-omission address))))
    open))

(defun orgctx--announces (address)
  "Say whether the view announces headlines or files left out at ADDRESS."
  (seq-some (lambda (omission)
              (let-alist omission
                (and (equal .address address)
                     (> (+ .headlines .paths) 0))))
            (alist-get 'omitted orgctx--view)))

(defun orgctx--mark-omission (address)
  "Make this line the mark of what is omitted at ADDRESS."
  (put-text-property (line-beginning-position) (line-end-position)
                     'orgctx-omitted address)
  (orgctx--lure (line-beginning-position) (line-end-position) "expand"))

(defun orgctx--lure (start end what)
  "Show that the mouse may be used from START to END, and WHAT that does."
  (let ((overlay (make-overlay start end)))
    (overlay-put overlay 'evaporate t)
    (overlay-put overlay 'mouse-face 'highlight)
    (overlay-put overlay 'follow-link t)
    (overlay-put overlay 'help-echo (concat "mouse-2, RET: " what))
    overlay))

(defun orgctx--refresh (&rest _)
  "Ask again for the view in this buffer."
  (orgctx--update orgctx--query))

(defun orgctx--update (query &optional enough)
  "Replace the view in this buffer by that of QUERY, once it is there.
If ENOUGH is a predicate, double the budget until the view satisfies it."
  (let* ((buffer (current-buffer))
         (in-buffer (lambda (function &rest arguments)
                      (when (buffer-live-p buffer)
                        (with-current-buffer buffer
                          (apply function arguments)))))
         (more (lambda ()
                 (orgctx--update (orgctx--with-budget query 2) enough))))
    (when orgctx--pending
      (orgctx--cancel orgctx--pending))
    (setq orgctx--pending
          (orgctx--ask-view
           query
           (lambda (view)
             (if (and enough (not (funcall enough view)))
                 (funcall in-buffer more)
               (funcall in-buffer #'orgctx--replace view query)))
           (lambda (problem)
             (if (and enough (equal (car problem) "BudgetTooSmall"))
                 (funcall in-buffer more)
               (orgctx--complain problem)))))))

(defun orgctx--with-budget (query factor)
  "Return a copy of QUERY with FACTOR times its budget."
  (let ((copy (copy-sequence query)))
    (setf (orgctx--query-budget copy)
          (floor (* factor (orgctx--query-budget query))))
    copy))

(defun orgctx--targets ()
  "Return the addresses of the targets of the view in this buffer."
  (mapcar (lambda (target) (alist-get 'address target))
          (alist-get 'targets orgctx--view)))

(defun orgctx--replace (view query)
  "Show VIEW, the answer to QUERY, with point at the node at which it was.
If that is not shown any more, point stays in its line."
  (let ((address (get-text-property (point) 'orgctx-address))
        (line (line-number-at-pos)))
    (orgctx--fill view query)
    (goto-char (point-min))
    (if-let ((place (and address
                         (text-property-any (point-min) (point-max)
                                            'orgctx-address address))))
        (goto-char place)
      (forward-line (1- line)))
    (when-let ((window (get-buffer-window)))
      (set-window-point window (point)))))

;;; The keys

(defun orgctx--rebudget (budget factor)
  "Give this view BUDGET, a prefix argument; without, FACTOR times its own."
  (let ((query (orgctx--with-budget orgctx--query factor)))
    (when budget
      (setf (orgctx--query-budget query) (prefix-numeric-value budget)))
    (orgctx--update query)))

(defun orgctx-view-more (&optional budget)
  "Double the budget of this view, or make it BUDGET, the prefix argument."
  (interactive "P")
  (orgctx--rebudget budget 2))

(defun orgctx-view-less (&optional budget)
  "Halve the budget of this view, or make it BUDGET, the prefix argument."
  (interactive "P")
  (orgctx--rebudget budget 0.5))

(defun orgctx-view-copy ()
  "Put this view on the kill ring."
  (interactive)
  (orgctx--copy-view orgctx--view))

(defun orgctx-view-cycle ()
  "Expand the omission at point; anywhere else, fold and unfold as Org does."
  (interactive)
  (if-let ((address (get-text-property (point) 'orgctx-omitted)))
      (orgctx--expand address)
    (call-interactively #'org-cycle)))

(defun orgctx--expand (address)
  "Show what is omitted at ADDRESS, or some of it.
Its node becomes a target of this view, too, and the budget doubles as
long as no more of it is shown.  What is not a node, such as a folder,
is listed."
  (let ((node (seq-find (lambda (each) (equal (alist-get 'address each) address))
                        (alist-get 'shown orgctx--view)))
        (query (orgctx--with-budget orgctx--query 1))
        (before (orgctx--omitted-at address orgctx--view)))
    (if (< (alist-get 'level node) 0)
        (orgctx-ls (if (equal address "memex") "" address))
      (unless (member address (orgctx--targets))
        (setf (orgctx--query-addresses query)
              (append (orgctx--query-addresses query) (list address))))
      (orgctx--update
       query
       (lambda (view)
         (or (< (orgctx--omitted-at address view) before)
             (let-alist view         ; the budget keeps nothing out any more
               (< (* 2 .tokens) .budget))))))))

(defun orgctx--omitted-at (address view)
  "Return how many headlines and lines VIEW omits at ADDRESS."
  (cl-loop for omission in (alist-get 'omitted view)
           when (equal (alist-get 'address omission) address)
           sum (+ (alist-get 'headlines omission) (alist-get 'lines omission))))

(declare-function orgctx-ls "orgctx-list" (&optional path))

(defun orgctx-view-visit (&optional event)
  "Visit the node at point, or at a mouse EVENT, in its file.
On an omission mark, expand that."
  (interactive (list last-nonmenu-event))
  (orgctx--follow event)
  (let ((omitted (get-text-property (point) 'orgctx-omitted))
        (address (or (get-text-property (point) 'orgctx-address)
                     (user-error "No node here"))))
    (if omitted
        (orgctx--expand omitted)
      (orgctx--visit address orgctx--query))))

(defun orgctx--follow (event)
  "Go to where EVENT happened, if it is one of the mouse."
  (when (mouse-event-p event)
    (mouse-set-point event)))

(defun orgctx--visit (address &optional query)
  "Go to the node at ADDRESS in its file.
It is looked up as QUERY is asked, by default as seen from this buffer."
  (let ((query (or query (orgctx--query-of address))))
    (orgctx--call-from
     query
     (lambda (bytes)
       (let ((host (file-remote-p default-directory))
             (bytes (or bytes (and (orgctx--query-source query)
                                   (orgctx--buffer-bytes)))))
         (orgctx--ask-json
          `("where" "--format" "json" ,@(orgctx--note-arguments)
            ,@(and bytes (list "--stdin-path" (orgctx--place)))
            "--" ,address)
          (lambda (found) (orgctx--go-to host found))
          :input bytes))))))

(defun orgctx--go-to (host found)
  "Visit the file on HOST, or on this one if nil, at the line that is FOUND."
  (let-alist found
    (pop-to-buffer (find-file-noselect (concat host .file)))
    (widen)
    (goto-char (point-min))
    (forward-line (1- .line))
    (when (derived-mode-p 'org-mode)
      (org-reveal))))

;;; The answer to a question

(defvar orgctx-context-history nil
  "Questions that were asked.")

(defvar-local orgctx--question nil
  "The question that this buffer answers.")

(defvar orgctx-context-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'orgctx-context-visit)
    (define-key map [mouse-2] #'orgctx-context-visit)
    (define-key map "f" #'orgctx-context-focus)
    (define-key map "w" #'orgctx-context-copy)
    (define-key map "g" #'revert-buffer)
    (define-key map "q" #'quit-window)
    map)
  "Keys of a context bundle.")

(define-minor-mode orgctx-context-mode
  "Mark this buffer as the answer to a question, to be read and not edited."
  :lighter " orgctx"
  :interactive nil
  (setq buffer-read-only orgctx-context-mode)
  (setq-local revert-buffer-function
              (lambda (&rest _) (orgctx-context orgctx--question)))
  (setq header-line-format
        " RET visit  f focus  w copy  g ask again  q quit"))

;;;###autoload
(defun orgctx-context (question)
  "Show where the notes answer QUESTION: a bundle whose places are links.
It is what a model may be given, of the program's own budget."
  (interactive
   (list (read-string "Ask the notes: " nil 'orgctx-context-history)))
  (orgctx--ask `("context" ,@(orgctx--note-arguments) "--" ,question)
               (lambda (text) (orgctx--show-context text question))))

(defun orgctx--show-context (text question)
  "Show TEXT, the answer to QUESTION, in a buffer."
  (let ((from default-directory))
    (with-current-buffer (get-buffer-create "*orgctx context*")
      (setq default-directory from)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert text))
      (orgctx--org-mode)
      (setq orgctx--question question)
      (orgctx--mark-places)
      (orgctx-context-mode)
      (set-buffer-modified-p nil)
      (goto-char (point-min))
      (pop-to-buffer (current-buffer)))))

(defconst orgctx--place-patterns
  '(("relevant indexes" . "^- \\(.+?\\(?:\\.org\\(?:_archive\\)?\\|/\\)\\) — ")
    ("likely files" . "^- \\(.+?\\.org\\(?:_archive\\)?\\(?::[0-9]+\\)?\\) — ")
    ("relevant symbols" . "^- .+? — [^—\n]+ — \\(.+\\)$"))
  "How the lines of a bundle's sections name a place, which may have dashes.")

(defun orgctx--mark-places ()
  "Make links of the places in this bundle."
  (with-silent-modifications
    (let ((known (orgctx--known-paths)))
      (pcase-dolist (`(,section . ,pattern) orgctx--place-patterns)
        (goto-char (point-min))
        (when (search-forward (format "\n* %s\n" section) nil t)
          (let ((end (save-excursion
                       (if (re-search-forward "^\\* " nil t) (point)
                         (point-max)))))
            (while (re-search-forward pattern end t)
              (unless (equal section "relevant symbols")
                (orgctx--match-known known))
              (orgctx--mark-place (match-beginning 1) (match-end 1))
              (end-of-line))))))))

(defun orgctx--known-paths ()
  "Return the files that this bundle names with nothing behind, long ones first.
They are those of its maps, and of its symbols."
  (let ((paths nil))
    (dolist (pattern '("^#\\+begin_src org\n# \\(.+\\)$"
                       "^- .+? — [^—\n]+ — \\(.+\\):[0-9]+$"))
      (goto-char (point-min))
      (while (re-search-forward pattern nil t)
        (cl-pushnew (match-string-no-properties 1) paths :test #'equal)))
    (sort paths (lambda (one other) (> (length one) (length other))))))

(defun orgctx--match-known (known)
  "Match anew the place in this line if it is in one of the KNOWN files.
Where a name ends cannot be seen if it has dashes behind an ending."
  (beginning-of-line)
  (let ((data (match-data)))
    (unless (seq-some
             (lambda (path)
               (looking-at (format "- \\(%s\\(?::[0-9]+\\)?\\) — "
                                   (regexp-quote path))))
             known)
      (set-match-data data))))

(defun orgctx--mark-place (start end)
  "Make the address from START to END a link, for all of its line."
  (let ((address (buffer-substring-no-properties start end)))
    (put-text-property (line-beginning-position) (line-end-position)
                       'orgctx-address address)
    (overlay-put (orgctx--lure start end "visit") 'face 'link)))

(defun orgctx--address-here ()
  "Return the address that this line is about."
  (or (get-text-property (line-beginning-position) 'orgctx-address)
      (user-error "No place in this line")))

(defun orgctx-context-visit (&optional event)
  "Visit the place in this line, or at a mouse EVENT; of a folder, list it."
  (interactive (list last-nonmenu-event))
  (orgctx--follow event)
  (let ((address (orgctx--address-here)))
    (if (string-suffix-p "/" address)
        (orgctx-ls (if (equal address "./") "" address))
      (orgctx--visit address))))

(defun orgctx-context-focus ()
  "Show the view of the place in this line."
  (interactive)
  (orgctx-focus-address (orgctx--address-here)))

(defun orgctx-focus-address (address)
  "Show the view of the node at ADDRESS, as seen from this buffer."
  (interactive "sAddress: ")
  (orgctx--show-view (orgctx--query-of address) address))

(defun orgctx-context-copy ()
  "Put this bundle on the kill ring."
  (interactive)
  (kill-new (buffer-substring-no-properties (point-min) (point-max)))
  (message "Copied the answer to: %s" orgctx--question))

(provide 'orgctx-view)
;;; orgctx-view.el ends here
