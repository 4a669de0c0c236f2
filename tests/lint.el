;;; lint.el --- what org-lint says of the structure of Org files, as JSON lines  -*- lexical-binding: t -*-

;; usage: emacs --batch -Q -l outline.el -l lint.el -f oracle-lints FOLDER OUT LINE-ENDS
;;
;; Files and options as in outline.el.  A row is one complaint: its checker, its message and
;; the text of the line it is about.  (A line number would not survive the comparison of a
;; view with its source.)

;;; Code:

(require 'org-lint)

(defconst oracle-checkers
  '(;; Drawers: a line that opens one which is never closed, or opens one inside another.
    incomplete-drawer
    ;; Properties: a drawer in the wrong place or with a wrong line, a key Org keeps for
    ;; itself, a value or key Org warns of, one CUSTOM_ID on two nodes.
    obsolete-properties-drawer
    special-property-in-properties-drawer
    invalid-effort-property
    deprecated-header-syntax
    duplicate-custom-id
    ;; Blocks: a begin without end, an end without begin, words after an end; and what is
    ;; asked of a begin line as soon as the block is closed.
    invalid-block
    missing-language-in-src-block
    missing-backend-in-export-block
    deprecated-export-blocks
    ;; Lines that mean something else once the block or element around them is gone.
    indented-diary-sexp
    orphaned-affiliated-keywords
    ;; Planning, headlines, keyword lines.
    misplaced-planning-info
    spurious-colons
    quote-section
    invalid-keyword-syntax)
  "The checkers that judge drawers, blocks, properties, planning and headlines.
Left out, for a view may leave out what they look for, or may not be responsible for it:
- links and targets (`invalid-*-link', `duplicate-target', `duplicate-name', `colon-in-name',
  `file-application', `percent-encoding-link-escape'), footnotes, macros, #+INCLUDE;
- `link-to-local-file', `non-existent-setupfile-parameter' and `invalid-id-link' also because
  they look for files;
- `wrong-header-argument' and `wrong-header-value', which evaluate Lisp in header arguments,
  and `invalid-babel-call-block';
- `unknown-options-item', `deprecated-category-setup', `obsolete-affiliated-keywords': how a
  setting is written, not how the file is built.")

(defun oracle-complaints (checker ast)
  "Return what CHECKER says of AST and the current buffer, as a list of (POSITION MESSAGE)."
  (save-excursion
    (goto-char (point-min))
    (mapcar (lambda (report) (list (car report) (cadr report) checker))
            (funcall (intern (format "org-lint-%s" checker)) ast))))

(defun oracle-lint-rows (_)
  "Return a row for each complaint about the current buffer, in the order of lines."
  ;; None of the checkers looks below elements; objects would take half as long again.
  (let* ((ast (org-element-parse-buffer 'element))
         (complaints (mapcan (lambda (checker) (oracle-complaints checker ast))
                             (copy-sequence oracle-checkers))))
    (mapcar (pcase-lambda (`(,position ,message ,checker))
              (goto-char position)
              `((checker . ,(symbol-name checker))
                (message . ,(substring-no-properties message))
                (text . ,(buffer-substring-no-properties (line-beginning-position)
                                                         (line-end-position)))))
            (sort complaints #'car-less-than-car))))

(defun oracle-lints ()
  "Entry point: lint a folder's files."
  (oracle-main #'oracle-lint-rows))

;;; lint.el ends here
