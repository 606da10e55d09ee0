import type { BytesInput } from "@shoal/contract/endpoint";
import type { FileInfo } from "@shoal/schemas";
import type { CallOptions, Download } from "@shoal/transport";
import type { BrowserFiles, UploadItem } from "../browser-fs.ts";

/** Files of one session. Paths are absolute paths in the session. Errors are those of {@link BrowserFiles}. */
export class SessionFiles {
  readonly #fs: BrowserFiles;
  readonly #id: string;
  constructor(fs: BrowserFiles, id: string) {
    this.#fs = fs;
    this.#id = id;
  }

  /** Writes a file atomically, and creates missing directories. */
  write(path: string, data: BytesInput, options?: CallOptions): Promise<void> {
    return this.#fs.writeFile(this.#id, data, { path }, options);
  }
  /** Returns a file's content. */
  read(path: string, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>> {
    return this.#fs.readBytes(this.#id, { path }, options);
  }
  /** Returns a file's content as text (UTF-8). */
  readText(path: string, options?: CallOptions): Promise<string> {
    return this.#fs.readText(this.#id, { path }, options);
  }
  /** Returns a file's content as a stream. */
  download(path: string, options?: CallOptions): Promise<Download> {
    return this.#fs.readFile(this.#id, { path }, options);
  }
  /** Uploads files as streams. */
  upload(files: readonly UploadItem[], options?: CallOptions): Promise<void> {
    return this.#fs.upload(this.#id, { files }, options);
  }
  /** Lists a directory, sorted by name. */
  list(path: string, options?: CallOptions): Promise<FileInfo[]> {
    return this.#fs.listFiles(this.#id, { path }, options);
  }
  /** Describes a file or directory. */
  info(path: string, options?: CallOptions): Promise<FileInfo> {
    return this.#fs.fileInfo(this.#id, { path }, options);
  }
  /** Creates a directory with its parents. */
  makeDirectory(path: string, options?: CallOptions): Promise<void> {
    return this.#fs.createDirectory(this.#id, { path }, options);
  }
  /** Moves or renames a file or directory. */
  move(from: string, to: string, options?: CallOptions): Promise<void> {
    return this.#fs.move(this.#id, { src_path: from, dest_path: to }, options);
  }
  /** Deletes a file; with `recursive` a directory with its content. */
  delete(path: string, { recursive = false, ...options }: CallOptions & { recursive?: boolean } = {}): Promise<void> {
    return recursive
      ? this.#fs.deleteDirectory(this.#id, { path }, {}, options)
      : this.#fs.deleteFile(this.#id, { path }, options);
  }
}
