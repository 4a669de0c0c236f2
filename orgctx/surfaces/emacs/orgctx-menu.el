;;; orgctx-menu.el --- The menu of orgctx  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `M-x orgctx' shows all commands, and sets what the views cost.

;;; Code:

(require 'orgctx)
(require 'transient)

(defun orgctx-set-budget (tokens)
  "Let views have TOKENS tokens, in this session."
  (interactive (list (read-number "Budget in tokens: " orgctx-budget)))
  (unless (natnump tokens)
    (user-error "Give a whole number"))
  (setq orgctx-budget tokens))

(defun orgctx-toggle-lens ()
  "Have views look around in the node's file, or on into other files."
  (interactive)
  (setq orgctx-lens (if (eq orgctx-lens 'foveal) 'fisheye 'foveal)))

;;;###autoload (autoload 'orgctx "orgctx-menu" nil t)
(transient-define-prefix orgctx ()
  "Show Org notes to a language model: the right slice, within a budget."
  [["The node at point"
    ("f" "focus" orgctx-focus)
    ("w" "copy" orgctx-focus-copy)
    ("i" "insert" orgctx-focus-insert)
    ("s" "send" orgctx-focus-send)]
   ["All notes"
    ("c" "context: ask a question" orgctx-context)
    ("l" "ls: list level by level" orgctx-ls)
    ("r" "collections in ranks" orgctx-collections)
    ("?" "status" orgctx-status)]]
  [["Working copies"
    ("d" "diff" orgctx-work-diff)
    ("k" "commit" orgctx-work-commit)]
   ["Views"
    ("b" orgctx-set-budget
     :description (lambda () (format "budget: %s tokens" orgctx-budget))
     :transient t)
    ("e" orgctx-toggle-lens
     :description (lambda () (format "lens: %s" orgctx-lens))
     :transient t)]])

(provide 'orgctx-menu)
;;; orgctx-menu.el ends here
