import * as z from "zod/mini";
import { Timestamp } from "../base/common.ts";
import { alwaysSent, checked, lazyObject, noNul, openEnum, type Schema } from "../base/schema.ts";

/** An absolute path in the browser's filesystem: begins with `/`, at most 4096 characters, no NUL. */
export const AbsolutePath: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.maxLength(4096),
    z.regex(/^\/.*/s, "must be absolute, beginning with /"),
    noNul("^/[^\\x00]*$"),
  ),
);

/** Three or four octal digits, as for chmod: `644`, `0755`. */
export const FileMode: Schema<string> = z.lazy(() =>
  checked(z.string(), z.regex(/^[0-7]{3,4}$/, "must be three or four octal digits, such as 644")),
);

/** A file, directory or symbolic link in the browser's filesystem. */
export interface FileInfo extends z.output<typeof FileInfo> {}
export const FileInfo = lazyObject(() => ({
  /** Last part of the path. */
  name: z.string(),
  /** Absolute path. */
  path: z.string(),
  /** Bytes; 0 for a directory. */
  size_bytes: z.int(),
  /** Whether it is a directory; `false` for every symbolic link. */
  is_dir: z.boolean(),
  /** When the content last changed. */
  mod_time: Timestamp,
  /** Type and permissions as `ls -l` prints them: `-rw-r--r--`, `drwxr-xr-x`, `lrwxrwxrwx`. */
  mode: z.string(),
  /**
   * True where the name is not UTF-8, else absent. `name` and `path` then hold `\xNN` for each invalid byte and `\\` for each backslash of the name.
   * Other calls do not find this path; use `browsers.process.exec` to rename the file.
   */
  is_escaped: z.optional(z.boolean()),
}));

/** Names one path. */
export interface FilePath extends z.input<typeof FilePath> {}
export const FilePath = lazyObject(() => ({
  /** Absolute path. */
  path: AbsolutePath,
}));

/** Query of `browsers.fs.writeFile`. */
export interface WriteFile extends z.input<typeof WriteFile> {}
export const WriteFile = lazyObject(() => ({
  /** Absolute path; an existing file is replaced in one step, and missing directories are created. */
  path: AbsolutePath,
  /** Permissions in octal; 644 when absent and the file is new. */
  mode: z.optional(FileMode),
}));

/** Input of `browsers.fs.createDirectory`. */
export interface CreateDirectory extends z.input<typeof CreateDirectory> {}
export const CreateDirectory = lazyObject(() => ({
  /** Absolute path; missing parents are created, an existing directory stays unchanged. */
  path: AbsolutePath,
  /** Permissions in octal; 755 when absent. */
  mode: z.optional(FileMode),
}));

/** How `browsers.fs.deleteDirectory` treats a missing directory. */
export interface DeleteDirectoryQuery extends z.input<typeof DeleteDirectoryQuery> {}
export const DeleteDirectoryQuery = lazyObject(() => ({
  /** Answer 200 instead of 404 when the directory does not exist. */
  missing_ok: z._default(z.boolean(), false),
}));

/** Input of `browsers.fs.setFilePermissions`. */
export interface SetFilePermissions extends z.input<typeof SetFilePermissions> {}
export const SetFilePermissions = lazyObject(() => ({
  /** Absolute path. */
  path: AbsolutePath,
  /** User name or number; the owner stays when absent. */
  owner: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** Group name or number; the group stays when absent. */
  group: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** Permissions in octal. */
  mode: FileMode,
}));

/** Input of `browsers.fs.move`. */
export interface MovePath extends z.input<typeof MovePath> {}
export const MovePath = lazyObject(() => ({
  /** Absolute path of what moves. */
  src_path: AbsolutePath,
  /** Absolute path that it moves to; an existing file there is replaced, an existing directory is not. */
  dest_path: AbsolutePath,
}));

/** Input of `browsers.fs.watch.start`. */
export interface StartWatch extends z.input<typeof StartWatch> {}
export const StartWatch = lazyObject(() => ({
  /** Absolute path of a directory. */
  path: AbsolutePath,
  /** Also watch the directories below it, including later ones. */
  recursive: z._default(z.boolean(), false),
}));

/** A started directory watch. Events from now on are buffered for its readers. */
export interface DirectoryWatch extends z.output<typeof DirectoryWatch> {}
export const DirectoryWatch = lazyObject(() => ({
  /** Names the watch in `events` and `stop`. */
  watch_id: alwaysSent(z.string()),
}));

/** A change below a watched directory. */
export interface FileSystemEvent extends z.output<typeof FileSystemEvent> {}
export const FileSystemEvent = lazyObject(() => ({
  /**
   * `CREATE`: the path is new. `WRITE`: its content changed. `DELETE`: it is gone.
   * `RENAME`: it has moved to `dest_path`; a `CREATE` of the new path follows.
   */
  type: openEnum("CREATE", "WRITE", "DELETE", "RENAME"),
  /** Last part of the path. */
  name: z.optional(z.string()),
  /** Absolute path; of a `RENAME`, the old one. */
  path: z.string(),
  /** Whether it is, or was, a directory. */
  is_dir: z.optional(z.boolean()),
  /** Of a `RENAME`: the new absolute path. */
  dest_path: z.optional(z.string()),
  /**
   * True if `path` or `dest_path` contains a name that is not UTF-8, otherwise absent. That name then has `\xNN` for each invalid byte and `\\` for each backslash;
   * the other names are unchanged. Other calls do not find this path.
   */
  is_escaped: z.optional(z.boolean()),
}));

/** Input of `browsers.fs.upload`. */
export interface UploadFiles extends z.input<typeof UploadFiles> {}
export const UploadFiles = lazyObject(() => ({
  /** The files, each with the absolute path that it is written to; at least one. */
  files: checked(
    z.array(
      z.object({
        /** Absolute path; missing directories are created. */
        dest_path: AbsolutePath,
        /** The content. */
        file: z.file(),
      }),
    ),
    z.minLength(1),
  ),
}));

/** Input of `browsers.fs.uploadZip`. */
export interface UploadZip extends z.input<typeof UploadZip> {}
export const UploadZip = lazyObject(() => ({
  /** The archive. */
  zip_file: z.file(),
  /** Absolute path of the directory that it is unpacked into; it is created if it is missing. */
  dest_path: AbsolutePath,
}));
