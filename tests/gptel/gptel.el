;;; gptel.el --- What orgctx-gptel.el needs of gptel, for its tests  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; gptel is in no archive that tests can reach.  This stands for it, after
;; the documentation of its version 0.9.9: a request is a state machine whose
;; info has the buffer, the position in it, and the buffer with the prompt, in
;; which each function of `gptel-prompt-transform-functions' is called, with
;; point at the end: one of two arguments with a callback and the machine.
;; Responses have the text property `gptel'.  A tool that is async is called
;; with a callback and its arguments in order.

;;; Code:

(require 'cl-lib)

(defvar gptel-prompt-transform-functions nil
  "Functions that change a prompt before it is sent.")

(cl-defstruct (gptel-fsm (:constructor gptel-make-fsm)) "A request." info)

(cl-defstruct (gptel-tool (:constructor gptel--make-tool))
  "A tool." name function description args category async confirm include)

(defvar gptel--known-tools nil
  "The tools by category and name.")

(defun gptel-make-tool (&rest slots)
  "Make a tool of SLOTS, and register it."
  (let ((tool (apply #'gptel--make-tool slots)))
    (setf (alist-get (gptel-tool-name tool)
                     (alist-get (gptel-tool-category tool) gptel--known-tools
                                nil nil #'equal)
                     nil nil #'equal)
          tool)))

(defun gptel-test-prompt (prompt then)
  "Transform PROMPT, which is sent from point, and call THEN with what is sent."
  (let* ((buffer (generate-new-buffer " *gptel prompt*"))
         (waiting (length gptel-prompt-transform-functions))
         (fsm (gptel-make-fsm
               :info (list :data buffer :buffer (current-buffer)
                           :position (point-marker))))
         (done (lambda ()
                 (when (= (cl-decf waiting) 0)
                   (with-current-buffer buffer
                     (funcall then (buffer-string))
                     (kill-buffer))))))
    (with-current-buffer buffer
      (insert prompt))
    (dolist (function gptel-prompt-transform-functions)
      (with-current-buffer buffer
        (goto-char (point-max))
        (pcase (car (func-arity function))
          (2 (funcall function done fsm))
          (1 (funcall function fsm) (funcall done))
          (_ (funcall function) (funcall done)))))))

(provide 'gptel)
;;; gptel.el ends here
