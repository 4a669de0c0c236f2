;;; orgctx-gptel.el --- Org notes in context for gptel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; For users of gptel 0.9.9 or newer; nothing else loads this file.
;;
;;   (with-eval-after-load 'gptel
;;     (require 'orgctx-gptel)
;;     (add-hook 'gptel-prompt-transform-functions #'orgctx-gptel-context)
;;     (setq gptel-tools (orgctx-gptel-tools)))
;;
;; `orgctx-gptel-add', called on a headline, adds it to what each request of
;; this session shows.  Views are made when a request is sent, so they are of
;; the notes as they are then.

;;; Code:

(require 'orgctx)
(require 'orgctx-view)

(declare-function gptel-fsm-info "ext:gptel" (fsm))
(declare-function gptel-make-tool "ext:gptel" (&rest slots))

;;; Context

(defvar orgctx-gptel--queries nil
  "The nodes for each request: a list of `orgctx--query', the newest first.")

;;;###autoload
(defun orgctx-gptel-add (&optional clear)
  "Add the Org node at point to each gptel request of this session.
With prefix argument CLEAR, have requests show nothing any more."
  (interactive "P")
  (if clear
      (setq orgctx-gptel--queries nil)
    (push (orgctx--query-here nil) orgctx-gptel--queries))
  (message "Requests show %d Org nodes" (length orgctx-gptel--queries)))

(defun orgctx-gptel--wanted (fsm)
  "Return the queries for the request FSM, in the order of their views.
If there are none, and it is sent from a note, that is the node there."
  (or (reverse orgctx-gptel--queries)
      (let ((info (gptel-fsm-info fsm)))
        (with-current-buffer (plist-get info :buffer)
          (save-excursion
            (when-let ((position (plist-get info :position)))
              (goto-char position))
            (when (and (derived-mode-p 'org-mode) buffer-file-name
                       (not (bound-and-true-p gptel-mode)))
              (list (orgctx--query-here nil))))))))

;;;###autoload
(defun orgctx-gptel-context (callback fsm)
  "Put views of Org nodes before the prompt of the gptel request FSM.
Then call CALLBACK.  For `gptel-prompt-transform-functions'; the current
buffer holds the prompt.  What cannot be shown is told, and left out."
  (orgctx-gptel--put (orgctx-gptel--wanted fsm) (current-buffer) callback))

(defun orgctx-gptel--put (queries buffer callback)
  "Put the views of QUERIES into the prompt in BUFFER, then call CALLBACK."
  (if (null queries)
      (funcall callback)
    (let ((next (lambda ()
                  (orgctx-gptel--put (cdr queries) buffer callback))))
      (orgctx--ask-view
       (car queries)
       (lambda (view)
         (when (buffer-live-p buffer)
           (with-current-buffer buffer
             (orgctx-gptel--insert (alist-get 'text view))))
         (funcall next))
       (lambda (problem)
         (orgctx--complain problem)
         (funcall next))))))

(defun orgctx-gptel--insert (text)
  "Insert TEXT before the last prompt in this buffer, behind views before it."
  (goto-char (or (next-single-property-change
                  (orgctx-gptel--prompt-start) 'orgctx-view)
                 (orgctx-gptel--prompt-start)))
  (unless (bolp) (insert "\n"))
  (insert (propertize (concat text (unless (string-suffix-p "\n" text) "\n")
                              "\n")
                      'orgctx-view t)))

(defun orgctx-gptel--prompt-start ()
  "Return where the last prompt begins: behind the last response, if any."
  (let ((place (point-max)))
    (while (and (> place (point-min))
                (null (get-text-property (1- place) 'gptel)))
      (setq place (previous-single-property-change place 'gptel nil
                                                   (point-min))))
    place))

;;; Tools

(defconst orgctx-gptel--budget
  '(:name "budget" :type integer :optional t
          :description "the most tokens of the answer")
  "The argument that all tools have.")

(defconst orgctx-gptel--address
  '(:name "address" :type string
          :description "a node, as ls, grep and context name it")
  "The argument of tools for one node.")

(defconst orgctx-gptel--tools
  `(("context" "Find where the user's Org notes answer a question; ask it first."
     (:name "query" :type string :description "words, names or IDs"))
    ("ls" "List Org notes one level below a path; without it, the roots."
     (:name "path" :type string :optional t
            :description "a folder, a file, or a headline's address"))
    ("grep" "Find lines of Org notes that contain a text."
     (:name "pattern" :type string :description "the text, literally"))
    ("focus" "Show a headline in full, its surroundings in outline."
     ,orgctx-gptel--address)
    ("read" "Read the true lines of an entry, numbered."
     ,orgctx-gptel--address))
  "The tools: the program's command, what it is for, its argument.")

;;;###autoload
(defun orgctx-gptel-tools ()
  "Register focus, ls, read, grep and context as tools of gptel; return them.
They read `orgctx-roots', which must be set, and nothing outside."
  (interactive)
  (require 'gptel)
  (unless orgctx-roots
    (user-error "Set `orgctx-roots': tools read only what is below them"))
  (mapcar (pcase-lambda (`(,command ,about ,argument))
            (gptel-make-tool
             :name (concat "orgctx_" command)
             :description about
             :category "orgctx"
             :async t
             :args (list argument orgctx-gptel--budget)
             :function (apply-partially #'orgctx-gptel--call command)))
          orgctx-gptel--tools))

(defun orgctx-gptel--call (command callback &optional argument budget)
  "Call the program's COMMAND with ARGUMENT and BUDGET, then CALLBACK with text.
An error is text, too: a model can mend its call."
  (let ((default-directory (car orgctx-roots)))
    (orgctx--ask `(,command ,@(orgctx--root-arguments)
                            ,@(and budget
                                   (list "--budget" (format "%s" budget)))
                            "--" ,(or argument ""))
                 callback
                 :else (lambda (problem)
                         (funcall callback (orgctx-explain problem))))))

(provide 'orgctx-gptel)
;;; orgctx-gptel.el ends here
