;;; orgctx.el --- Org notes in context, within a token budget  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The orgctx authors

;; Author: The orgctx authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: outlines, tools
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A language model should see the headline you mean, and where it stands,
;; but not the whole file.  `orgctx-focus' shows that view of the node at
;; point: its entry in full, its surroundings in outline, never over
;; `orgctx-budget' tokens.  `orgctx-focus-copy', `orgctx-focus-insert' and
;; `orgctx-focus-send' put it where a model reads it.  `M-x orgctx' shows all
;; there is: listings, a question to the notes, collections, working copies.
;;
;; All of it is asked of the program orgctx, which must be installed on the
;; host of the notes, be it this one or remote.  It is run without a shell and
;; does not make Emacs wait, except for the names of working copies and of
;; tools; `C-g' cancels it.  A note with unsaved text is shown as you see it.
;;
;; This file holds what the others have in common: the options, the program,
;; and the note at point.  `orgctx-view' shows views, `orgctx-list' listings,
;; `orgctx-work' working copies; `orgctx-menu' is the menu, and `orgctx-gptel'
;; is for those who use the package gptel.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)

(declare-function org-before-first-heading-p "org" ())
(declare-function org-get-heading "org"
                  (&optional no-tags no-todo no-priority no-comment))
(declare-function org-link-display-format "ol" (s))

(defgroup orgctx nil
  "Org notes in context, within a token budget."
  :group 'org
  :prefix "orgctx-")

(defcustom orgctx-program "orgctx"
  "The program orgctx: its name, or a list of name and leading arguments.
No shell reads it."
  :type '(choice string (repeat string))
  :risky t)

(defcustom orgctx-budget 4000
  "The most tokens a view may have."
  :type 'natnum
  :safe #'natnump)

(defcustom orgctx-lens 'foveal
  "How far a view looks around: in the node's file, or on into other files."
  :type '(choice (const foveal) (const fisheye))
  :safe #'symbolp)

(defcustom orgctx-roots nil
  "Folders of Org files that answers may draw from.
Only those on the host of the note are used.  If nil, a view is of the
note's file, and all else is asked of the program's own default roots."
  :type '(repeat directory)
  :risky t)

(defcustom orgctx-ids 'full
  "How a view writes IDs: in full, as the shortest unique prefix, or not at all."
  :type '(choice (const full) (const short) (const none))
  :safe #'symbolp)

;;; Errors

(defconst orgctx-version "0.1.0"
  "The version of this package, which is that of the program it needs.")

(define-error 'orgctx-error "Orgctx" 'user-error)

(defconst orgctx--install-hint "install it, or set `orgctx-program'"
  "What to do when the program is not found.")

(defun orgctx-explain (problem)
  "Return PROBLEM, a list of class, message and hint, as text.
Such a list is the data of an `orgctx-error'."
  (pcase-let ((`(,class ,message ,hint) problem))
    (concat class ": " message
            (unless (string-empty-p hint) (concat "\n  " hint)))))

(defun orgctx--complain (problem)
  "Show PROBLEM, a list of class, message and hint, in the echo area."
  (message "%s" (orgctx-explain problem)))

;;; The program

(cl-defstruct (orgctx--request (:copier nil))
  "A call of the program, from its first process to its last.
ARGUMENTS, INPUT: what the program is given; INPUT is bytes or nil.
DIRECTORY: where it runs.  THEN is called with what it prints, ELSE
with what is wrong, as a list of class, message and hint.  OUTPUT,
WARNINGS, STRAYS, PROBLEM: what it has said so far, newest first.
PROCESS: what runs.  TEMPORARY: a file to be deleted in the end.
RELEASE: a function that gives \\`C-g' back.  DONE: whether all is over."
  arguments input directory then else
  output warnings strays problem process temporary release done)

(defvar orgctx--versions (make-hash-table :test #'equal)
  "The programs whose version is known to be right, by host and command.")

(defun orgctx--command ()
  "Return the program as a list, to which arguments are to be added."
  (ensure-list orgctx-program))

(cl-defun orgctx--ask (arguments then &key input (else #'orgctx--complain))
  "Call the program with ARGUMENTS and, when it is done, THEN with its output.
That is a string.  INPUT, bytes, is what it reads.  If it fails, ELSE is
called with class, message and hint in a list.  Both are called in the
buffer that is current now, unless it was killed.
Return an `orgctx--request'.  As long as it runs, \\`C-g' cancels it."
  (let* ((buffer (current-buffer))
         (call (lambda (function)
                 (lambda (value)
                   (with-current-buffer
                       (if (buffer-live-p buffer) buffer (current-buffer))
                     (funcall function value)))))
         (request (make-orgctx--request
                   :arguments arguments :input input
                   :directory default-directory
                   :then (funcall call then) :else (funcall call else))))
    (setf (orgctx--request-release request) (orgctx--take-quit request))
    (if (gethash (orgctx--program-key) orgctx--versions)
        (orgctx--run request)
      (orgctx--check-version request))
    request))

(defun orgctx--take-quit (request)
  "Have \\`C-g' cancel REQUEST; return the function that ends that."
  (if noninteractive
      #'ignore
    (let ((map (make-sparse-keymap)))
      (define-key map (kbd "C-g")
                  (lambda () (interactive) (orgctx--quit request)))
      (set-transient-map
       map (lambda () (not (orgctx--request-done request)))))))

(defun orgctx--program-key ()
  "Return the key of the program on the current host in `orgctx--versions'."
  (cons (file-remote-p default-directory) (orgctx--command)))

(defun orgctx--check-version (request)
  "Ask the program for its version, then run REQUEST if it is the right one."
  (let ((key (orgctx--program-key)))
    (orgctx--launch
     request '("--version") nil
     (lambda ()
       (let ((said (string-join (reverse (orgctx--request-strays request)))))
         (setf (orgctx--request-strays request) nil)
         (if-let ((problem (orgctx--version-problem said)))
             (orgctx--end request nil problem)
           (puthash key t orgctx--versions)
           (orgctx--run request)))))))

(defun orgctx--version-problem (said)
  "Return what is wrong if a program SAID this of its version; nil if nothing is.
The first two numbers must be those of `orgctx-version'."
  (if (not (string-match "^orgctx \\([0-9]+\\.[0-9]+\\)\\([.0-9]*\\)" said))
      (list "WrongVersion"
            (format "the program does not tell its version, but: %s"
                    (car (last (split-string said "\n" t) 1)))
            "see that `orgctx-program' is orgctx, and update it")
    (let* ((its (match-string 1 said))
           (whole (concat its (match-string 2 said)))
           (ours (string-join (seq-take (split-string orgctx-version "\\.") 2)
                              ".")))
      (unless (version= its ours)
        (list "WrongVersion"
              (format "the program is orgctx %s, orgctx.el is %s"
                      whole orgctx-version)
              (if (version< its ours)
                  "update the program: pip install --upgrade orgctx"
                "update orgctx.el: `orgctx emacs' prints where the right one is"))))))

(defun orgctx--run (request)
  "Start what REQUEST is for."
  (orgctx--launch request
                  (cons "--events" (orgctx--request-arguments request))
                  (orgctx--request-input request)
                  (lambda () (orgctx--finish request))))

(defun orgctx--launch (request arguments input after)
  "Start the program with ARGUMENTS and INPUT for REQUEST; call AFTER at its end."
  (let ((default-directory (orgctx--request-directory request)))
    (condition-case problem
        (let ((process (orgctx--process request arguments input after)))
          (setf (orgctx--request-process request) process)
          (when (and input (not (file-remote-p default-directory)))
            (orgctx--send request process input)))
      (file-error
       (orgctx--end request nil
                    (if (file-directory-p default-directory)
                        (list "NotInstalled"
                              (format "cannot run %s: %s"
                                      (car (orgctx--command))
                                      (error-message-string problem))
                              orgctx--install-hint)
                      (list "NotFound"
                            (format "%s: there is no such folder"
                                    default-directory)
                            "")))))))

(defun orgctx--send (request process input)
  "Write INPUT to PROCESS, which is that of REQUEST.
A program that ends without reading all of it says itself what is wrong."
  (let ((sent nil))
    (unwind-protect
        (progn
          (condition-case nil
              (progn
                (process-send-string process input)
                (process-send-eof process))
            (error nil))
          (setq sent t))
      (unless sent                      ; the user does not want to wait
        (orgctx--cancel request)))))

(defun orgctx--process (request arguments input after)
  "Return a new process of the program with ARGUMENTS for REQUEST.
It may read INPUT.  AFTER is called when it has ended."
  (let ((coding-system-for-read 'utf-8-unix)
        (coding-system-for-write 'no-conversion)
        (buffer (generate-new-buffer " *orgctx process*" t))
        (process nil))
    (unwind-protect
        (setq process
              (make-process
               :name "orgctx"
               :buffer buffer
               :command (orgctx--encoded
                         (orgctx--redirected request arguments input))
               :connection-type 'pipe
               :noquery t
               :file-handler t
               :filter (lambda (process text)
                         (orgctx--listen request process text))
               :sentinel (lambda (process _event)
                           (unless (process-live-p process)
                             (orgctx--after request process after)))))
      (unless process
        (kill-buffer buffer)))))

(defun orgctx--redirected (request arguments input)
  "Return the command with ARGUMENTS, for REQUEST.
On a remote host a process is behind a terminal that is not
transparent, so INPUT, bytes or nil, is a file there."
  (let ((command (append (orgctx--command) arguments)))
    (if (not (and input (file-remote-p default-directory)))
        command
      (let ((file (make-nearby-temp-file "orgctx-unsaved-"))
            (coding-system-for-write 'no-conversion))
        (setf (orgctx--request-temporary request) file)
        (write-region input nil file nil 'quiet)
        `("sh" "-c" "exec \"$@\" <\"$0\"" ,(file-local-name file) ,@command)))))

(defun orgctx--encoded (command)
  "Return COMMAND with its words encoded as file names on this host are."
  (let ((coding (or file-name-coding-system default-file-name-coding-system)))
    (if (file-remote-p default-directory)
        command
      (mapcar (lambda (word) (encode-coding-string word coding)) command))))

(defun orgctx--listen (request process text)
  "Take TEXT that PROCESS wrote for REQUEST, line by line."
  (when (buffer-live-p (process-buffer process))
    (with-current-buffer (process-buffer process)
      (goto-char (point-max))
      (save-excursion (insert text))    ; what is before has no line end
      (while (search-forward "\n" nil t)
        (let ((line (delete-and-extract-region (point-min) (point))))
          (orgctx--note request line))))))

(defun orgctx--note (request line)
  "Take a LINE that the program wrote for REQUEST: an event, or a stray line."
  (let ((event (and (string-prefix-p "{" line)
                    (ignore-errors (orgctx--parse line)))))
    (pcase (caar event)
      ('output (push (cdar event) (orgctx--request-output request)))
      ('warning (push (cdar event) (orgctx--request-warnings request)))
      ('error (setf (orgctx--request-problem request)
                    (mapcar (lambda (key) (alist-get key event))
                            '(error message hint))))
      ('progress (orgctx--report event))
      (_ (push line (orgctx--request-strays request))))))

(defun orgctx--parse (text)
  "Return the JSON TEXT as Lisp: alists, lists, nil for null and false."
  (condition-case nil
      (if (and (fboundp 'json-available-p) (json-available-p))
          (json-parse-string text :object-type 'alist :array-type 'list
                             :null-object nil :false-object nil)
        (orgctx--parse-slowly text))
    ;; Many an Emacs has none of NUL, and of names that are not UTF-8.
    (error (orgctx--parse-slowly text))))

(defun orgctx--parse-slowly (text)
  "Return the JSON TEXT as `orgctx--parse' does, whatever characters it has."
  (let ((json-object-type 'alist) (json-array-type 'list)
        (json-key-type 'symbol) (json-null nil) (json-false nil))
    (json-read-from-string
     (replace-regexp-in-string
      (concat "\\\\\\(?:ud[89ab][0-9a-f]\\{2\\}\\\\ud[c-f][0-9a-f]\\{2\\}"
              "\\|udc\\([89a-f][0-9a-f]\\)\\|.\\)")
      (lambda (escape)
        (if-let ((byte (match-string 1 escape)))
            (string (unibyte-char-to-multibyte (string-to-number byte 16)))
          escape))
      text t t))))

(defun orgctx--report (event)
  "Tell of progress in the echo area, as EVENT has it."
  (let ((message-log-max nil))
    (let-alist event
      (message "Orgctx: %s, %d of %d" .what .progress .total))))

(defun orgctx--after (request process after)
  "Clean up behind PROCESS, which has ended; call AFTER unless REQUEST is over."
  (when (buffer-live-p (process-buffer process))
    (orgctx--listen request process "\n")
    (kill-buffer (process-buffer process)))
  (unless (orgctx--request-done request)
    (if (eq (process-exit-status process) 127)  ; not found, says a shell
        (orgctx--end request nil
                     (list "NotInstalled" (orgctx--stray-text request process)
                           orgctx--install-hint))
      (funcall after))))

(defun orgctx--stray-text (request process)
  "Return what PROCESS, which failed, has said beside events for REQUEST."
  (let ((text (string-trim (string-join
                            (reverse (orgctx--request-strays request))))))
    (if (string-empty-p text)
        (format "the program ended without a message, with status %s"
                (process-exit-status process))
      text)))

(defun orgctx--finish (request)
  "Answer REQUEST, whose process has ended."
  (let* ((process (orgctx--request-process request))
         (output (orgctx--request-output request))
         (failed (or (eq (process-status process) 'signal)
                     (and (null output)
                          (/= (process-exit-status process) 0)))))
    (orgctx--end request
                 (string-join (reverse output))
                 (or (orgctx--request-problem request)
                     (and failed (list "Failed"
                                       (orgctx--stray-text request process)
                                       ""))))))

(defun orgctx--end (request output problem)
  "Answer REQUEST with OUTPUT, or with PROBLEM if there is one."
  (orgctx--release request)
  (if problem
      (funcall (orgctx--request-else request) problem)
    (funcall (orgctx--request-then request) output)
    (when-let ((warnings (orgctx--request-warnings request)))
      (message "Orgctx: %s" (string-join (reverse warnings) "; ")))))

(defun orgctx--release (request)
  "Take REQUEST for done, and give back what it took."
  (setf (orgctx--request-done request) t)
  (funcall (orgctx--request-release request))
  (when-let ((file (orgctx--request-temporary request)))
    (delete-file file)))

(defun orgctx--cancel (request)
  "Stop REQUEST, unless it is done; nobody is called.
Return whether there was anything to stop."
  (unless (orgctx--request-done request)
    (orgctx--release request)
    (when-let ((process (orgctx--request-process request)))
      (interrupt-process process)
      (delete-process process)
      (when (buffer-live-p (process-buffer process))
        (kill-buffer (process-buffer process))))
    t))

(defun orgctx--quit (request)
  "Stop REQUEST for the user, and tell."
  (when (orgctx--cancel request)
    (message "Orgctx: cancelled")))

(defun orgctx--answer (arguments &optional input)
  "Return what the program prints when it is called with ARGUMENTS and INPUT.
Wait for it; \\`C-g' stops it.  Signal `orgctx-error' if it fails."
  (let* (output problem
         (request (orgctx--ask arguments (lambda (text) (setq output text))
                               :input input
                               :else (lambda (it) (setq problem it)))))
    (unwind-protect
        (while (not (orgctx--request-done request))
          (accept-process-output (orgctx--request-process request) 0.1))
      (orgctx--cancel request))
    (when problem
      (signal 'orgctx-error problem))
    output))

(defun orgctx--ask-json (arguments then &rest options)
  "Call the program with ARGUMENTS, which ask for JSON.
Then call THEN with it as Lisp.  OPTIONS are those of `orgctx--ask'.
What is no JSON is a failure of the program."
  (apply #'orgctx--ask arguments
         (lambda (output)
           (pcase (condition-case nil
                      (list (orgctx--parse output))
                    (error nil))
             (`(,answer) (funcall then answer))
             (_ (funcall (or (plist-get options :else) #'orgctx--complain)
                         (list "Failed"
                               "the program's answer is not whole" "")))))
         options))

;;; The note

(defun orgctx--local-name (file)
  "Return the absolute name of FILE as programs on its host know it."
  (file-name-unquote (file-local-name (expand-file-name file))))

(defun orgctx--root-arguments ()
  "Return the arguments that name the roots on the current host."
  (let ((host (file-remote-p default-directory)))
    (mapcan (lambda (root)
              (when (equal host (file-remote-p root))
                (list "--root" (orgctx--local-name root))))
            orgctx-roots)))

(defvar org-inlinetask-min-level)

(defun orgctx--note-arguments ()
  "Return the arguments that say which notes there are, and how to read them.
Where `org-inlinetask' is loaded, its tasks are text for the program, too."
  (append (orgctx--root-arguments)
          (when-let (((featurep 'org-inlinetask))
                     (level (bound-and-true-p org-inlinetask-min-level)))
            (list "--inlinetask-min-level" (number-to-string level)))))

(defun orgctx--view-arguments (&optional budget lens)
  "Return the arguments that all views are asked with.
BUDGET and LENS are by default those of the options."
  `("--budget" ,(format "%s" (or budget orgctx-budget))
    "--lens" ,(format "%s" (or lens orgctx-lens))
    "--ids" ,(format "%s" orgctx-ids)
    ,@(orgctx--note-arguments)))

(defun orgctx--source ()
  "Return a marker at point, in the base buffer if this one is indirect.
Signal a `user-error' if that is no note."
  (with-current-buffer (or (buffer-base-buffer) (current-buffer))
    (unless (derived-mode-p 'org-mode)
      (user-error "Not an Org buffer: %s" (buffer-name)))
    (unless buffer-file-name
      (user-error "Buffer %s visits no file, and orgctx shows files"
                  (buffer-name))))
  (set-marker (make-marker) (point) (or (buffer-base-buffer) (current-buffer))))

(defmacro orgctx--at (source &rest body)
  "Run BODY at the marker SOURCE, in its whole buffer and its file's folder."
  (declare (indent 1) (debug t))
  (macroexp-let2 nil source source
    `(with-current-buffer (marker-buffer ,source)
       (save-excursion
         (save-restriction
           (widen)
           (goto-char ,source)
           (let ((default-directory (file-name-directory buffer-file-name)))
             ,@body))))))

(defun orgctx--unsaved-bytes ()
  "Return what this buffer would save; nil if that is in its file already."
  (when (or (buffer-modified-p)
            (not (verify-visited-file-modtime))
            (not (file-exists-p buffer-file-name)))
    (orgctx--buffer-bytes)))

(defun orgctx--buffer-bytes ()
  "Return what this buffer, which is widened, would save."
  (let ((coding (or buffer-file-coding-system 'utf-8-unix)))
    (encode-coding-string
     (buffer-substring-no-properties (point-min) (point-max))
     (if (eq (coding-system-base coding) 'undecided)
         (coding-system-change-text-conversion coding 'utf-8)
       coding))))

(defun orgctx--place (&optional line)
  "Return the address of this buffer's file, or of LINE in it."
  (let ((name (file-name-nondirectory (orgctx--local-name buffer-file-name))))
    (if line (format "./%s:%d" name line) (concat "./" name))))

(defun orgctx--node-arguments (bytes &optional addresses)
  "Return the arguments that name the node at point, and ADDRESSES.
BYTES is the unsaved text of its file, or nil."
  (let ((place (orgctx--place (line-number-at-pos))))
    (if bytes
        `("--stdin-path" ,place "--" ,@addresses)
      `("--" ,place ,@addresses))))

(defun orgctx--title ()
  "Return the title of the headline at point, or the file's name above all."
  (if (org-before-first-heading-p)
      (file-name-nondirectory buffer-file-name)
    (substring-no-properties
     (org-link-display-format (org-get-heading t t t t)))))

;;;###autoload
(defun orgctx-focus-string (&optional source)
  "Return the view of the Org node at point, or at the marker SOURCE.
The view is an Org document of at most `orgctx-budget' tokens.  Wait for
it; \\`C-g' stops that.  Signal `orgctx-error', whose data are class,
message and hint, if there is no view."
  (orgctx--at (or source (orgctx--source))
    (let ((bytes (orgctx--unsaved-bytes)))
      (orgctx--answer `("focus" ,@(orgctx--view-arguments)
                        ,@(orgctx--node-arguments bytes))
                      bytes))))

;; For whoever has the folder on `load-path' and no package manager.
(dolist (command '((orgctx-focus . "orgctx-view")
                   (orgctx-focus-copy . "orgctx-view")
                   (orgctx-focus-insert . "orgctx-view")
                   (orgctx-focus-send . "orgctx-view")
                   (orgctx-context . "orgctx-view")
                   (orgctx-ls . "orgctx-list")
                   (orgctx-collections . "orgctx-list")
                   (orgctx-status . "orgctx-list")
                   (orgctx-work-diff . "orgctx-work")
                   (orgctx-work-commit . "orgctx-work")
                   (orgctx . "orgctx-menu")))
  (autoload (car command) (cdr command) nil t))

(provide 'orgctx)
;;; orgctx.el ends here
