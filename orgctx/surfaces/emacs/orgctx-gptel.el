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

(require 'cl-lib)
(require 'json)
(require 'let-alist)
(require 'orgctx)
(require 'orgctx-view)
(require 'seq)

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

;;;###autoload
(defun orgctx-gptel-tools ()
  "Register the program's tools for agents as tools of gptel; return them.
They read `orgctx-roots', which must be set, and nothing outside.  That of
cites is not among them: it needs one session."
  (interactive)
  (require 'gptel)
  (unless orgctx-roots
    (user-error "Set `orgctx-roots': tools read only what is below them"))
  (let ((default-directory (car orgctx-roots)))
    (mapcar #'orgctx-gptel--tool
            (seq-remove (lambda (tool) (equal (alist-get 'name tool) "cite"))
                        (alist-get 'tools
                                   (orgctx--parse (orgctx--answer '("tool"))))))))

(defun orgctx-gptel--tool (tool)
  "Register TOOL, as the program describes it, with gptel."
  (let-alist tool
    (let ((arguments (orgctx-gptel--arguments .input_schema)))
      (gptel-make-tool
       :name (concat "orgctx_" .name)
       :description .description
       :category "orgctx"
       :async t
       :args arguments
       :function (apply-partially
                  #'orgctx-gptel--call .name
                  (mapcar (lambda (each) (plist-get each :name)) arguments))))))

(defun orgctx-gptel--arguments (schema)
  "Return the arguments of a JSON SCHEMA as gptel wants them."
  (let ((required (alist-get 'required schema)))
    (mapcar
     (pcase-lambda (`(,name . ,about))
       (let-alist about
         `(:name ,(symbol-name name)
           :type ,(intern .type)
           :description ,(or .description (symbol-name name))
           ,@(and .enum (list :enum (vconcat .enum)))
           ,@(and .items (list :items (list :type (intern .items.type))))
           ,@(unless (member (symbol-name name) required)
               '(:optional t)))))
     (alist-get 'properties schema))))

(defun orgctx-gptel--call (tool names callback &rest values)
  "Call the program's TOOL with the arguments NAMES, whose values are VALUES.
Then call CALLBACK with its answer.  A refusal is one, too: a model can mend
its call."
  (let ((default-directory (car orgctx-roots))
        (given (cl-loop for name in names for value in values
                        unless (memq value '(nil :null))
                        collect (cons name value))))
    (orgctx--ask `("tool" ,@(orgctx--note-arguments) "--" ,tool "-")
                 callback
                 :input (encode-coding-string
                         (if given (json-encode given) "{}") 'utf-8-unix)
                 :else (lambda (problem)
                         (funcall callback (orgctx-explain problem))))))

(provide 'orgctx-gptel)
;;; orgctx-gptel.el ends here
