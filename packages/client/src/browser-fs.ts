import {
  createDirectory,
  deleteDirectory,
  deleteFile,
  downloadDirZip,
  getFileInfo,
  listFiles,
  movePath,
  readFile,
  setFilePermissions,
  uploadFiles,
  uploadZip,
  writeFile,
  type BytesInput,
} from "@shoal/contract";
import type { CreateDirectory, DeleteDirectoryQuery, FileInfo, FilePath, MovePath, SetFilePermissions, WriteFile } from "@shoal/schemas";
import type { CallOptions, Download, DownloadOptions, Transport } from "@shoal/transport";
import { DirectoryWatches } from "./directory-watches.ts";

/** A file to upload and the absolute path that it is written to. */
export interface UploadItem {
  readonly dest_path: string;
  /** Streams are sent as they come; with a stream the call is not repeated when it fails. */
  readonly file: BytesInput;
}

/** Files of a browser session. Paths are absolute, in the session's own filesystem. */
export class BrowserFiles {
  /** Watches on directories. */
  readonly watch: DirectoryWatches;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.watch = new DirectoryWatches(transport);
  }

  /** Downloads a file as a stream, of any size; a symbolic link is followed. Read the stream to its end or cancel it. @throws {ApiError} 404 `not_found`, 400 `not_a_file`. */
  readFile(browserId: string, query: FilePath, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(readFile, { params: { id: browserId }, query }, options);
  }
  /** A file's content as text (UTF-8), whole in memory. @throws {ApiError} as {@link readFile}. */
  async readText(browserId: string, query: FilePath, options?: DownloadOptions): Promise<string> {
    const { stream } = await this.readFile(browserId, query, options);
    return new Response(stream).text();
  }
  /** A file's content, whole in memory. @throws {ApiError} as {@link readFile}. */
  async readBytes(browserId: string, query: FilePath, options?: DownloadOptions): Promise<Uint8Array<ArrayBuffer>> {
    const { stream } = await this.readFile(browserId, query, options);
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  /** Writes a file, streamed. It appears whole or not at all; missing directories are made. @throws {ApiError} 413, 507 when it does not fit. */
  writeFile(browserId: string, content: BytesInput, query: WriteFile, options?: CallOptions): Promise<void> {
    return this.#transport.call(writeFile, { params: { id: browserId }, query, body: content }, options);
  }
  /** Lists one directory, not those below it, sorted by name. @throws {ApiError} 404 `not_found`, 400 `not_a_directory`. */
  listFiles(browserId: string, query: FilePath, options?: CallOptions): Promise<FileInfo[]> {
    return this.#transport.call(listFiles, { params: { id: browserId }, query }, options);
  }
  /** Makes a directory with its parents; one that exists is left as it is. @throws {ApiError} 400 when a file is in the way. */
  createDirectory(browserId: string, body: CreateDirectory, options?: CallOptions): Promise<void> {
    return this.#transport.call(createDirectory, { params: { id: browserId }, body }, options);
  }
  /** Deletes a file; of a symbolic link the link. @throws {ApiError} 404 `not_found`, 400 `not_a_file`. */
  deleteFile(browserId: string, body: FilePath, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteFile, { params: { id: browserId }, body }, options);
  }
  /**
   * Deletes a directory and everything in it.
   *
   * @param query - `missing_ok`: a directory that does not exist is no error.
   * @throws {ApiError} 404 `not_found`, 400 `not_a_directory`, 403 `protected_path` for `/`, the home directory and mounts.
   */
  deleteDirectory(browserId: string, body: FilePath, query: DeleteDirectoryQuery = {}, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteDirectory, { params: { id: browserId }, body, query }, options);
  }
  /** Sets permissions and, where they are given, owner and group. @throws {ApiError} 404 `not_found`, 403 `permission_denied`. */
  setFilePermissions(browserId: string, body: SetFilePermissions, options?: CallOptions): Promise<void> {
    return this.#transport.call(setFilePermissions, { params: { id: browserId }, body }, options);
  }
  /** Describes a file, a directory, or a symbolic link itself. @throws {ApiError} 404 `not_found`. */
  fileInfo(browserId: string, query: FilePath, options?: CallOptions): Promise<FileInfo> {
    return this.#transport.call(getFileInfo, { params: { id: browserId }, query }, options);
  }
  /** Moves or renames a file or directory. An existing file at the new path is replaced, an existing directory is not. @throws {ApiError} 404 `not_found`, 409. */
  move(browserId: string, body: MovePath, options?: CallOptions): Promise<void> {
    return this.#transport.call(movePath, { params: { id: browserId }, body }, options);
  }
  /** Uploads files, streamed; each appears whole or not at all. @throws {ApiError} 413, 507 when they do not fit. */
  upload(browserId: string, body: { readonly files: readonly UploadItem[] }, options?: CallOptions): Promise<void> {
    return this.#transport.call(uploadFiles, { params: { id: browserId }, body }, options);
  }
  /** Uploads a ZIP archive and unpacks it into `dest_path`. @throws {ApiError} 400 `unsafe_archive` for names that leave the directory; 413, 507 for too much content. */
  uploadZip(browserId: string, body: { readonly dest_path: string; readonly zip_file: BytesInput }, options?: CallOptions): Promise<void> {
    return this.#transport.call(uploadZip, { params: { id: browserId }, body }, options);
  }
  /** Downloads a directory as a ZIP archive, which is made while it is sent. @throws {ApiError} 404 `not_found`, 400 `not_a_directory`. */
  downloadDirZip(browserId: string, query: FilePath, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(downloadDirZip, { params: { id: browserId }, query }, options);
  }
}
