;;; links.el --- where Org leads from the links in a file  -*- lexical-binding: t; -*-

;;; Commentary:
;; For each file of a folder, a JSON array with an element for each link: the line to which Org goes
;; in the same file; 0 if it goes nowhere.

;;; Code:
(require 'org)
(require 'json)
(setq org-link-search-must-match-exact-headline t
      org-confirm-babel-evaluate nil)

(defun oracle-links--line (link)
  "The line of this buffer to which LINK leads, or 0."
  (let ((type (org-element-property :type link))
        (path (org-element-property :path link)))
    (or (when (member type '("fuzzy" "custom-id"))
          (ignore-errors
            (save-excursion
              (org-link-search (if (equal type "custom-id") (concat "#" path) path))
              (line-number-at-pos))))
        0)))

(defun oracle-links (folder out)
  "Write to OUT what is said above of the files in FOLDER, a line each."
  (with-temp-file out
    (dolist (file (directory-files folder t "\\.org\\'"))
      (insert (with-temp-buffer
                (insert-file-contents file)
                (let ((org-inhibit-startup t)) (org-mode))
                (json-encode
                 (vconcat (org-element-map (org-element-parse-buffer) 'link
                            #'oracle-links--line nil nil nil t))))
              "\n"))))
;;; links.el ends here
