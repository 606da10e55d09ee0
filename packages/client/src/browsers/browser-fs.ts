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
} from "@shoal/contract";
import type { BytesInput } from "@shoal/contract/endpoint";
import type {
  CreateDirectory,
  DeleteDirectoryQuery,
  FileInfo,
  FilePath,
  MovePath,
  SetFilePermissions,
  WriteFile,
} from "@shoal/schemas";
import type { Call, CallOptions, Download, DownloadOptions, Transport } from "@shoal/transport";
import { DirectoryWatches } from "./directory-watches.ts";

/** An absolute path in the session, and the content. */
export interface UploadItem {
  readonly dest_path: string;
  /** Streams are sent with backpressure; a call with a stream is not retried. */
  readonly file: BytesInput;
}

/** Files of a browser session. Paths are absolute paths in the session. */
export class BrowserFiles {
  readonly watch: DirectoryWatches;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.watch = new DirectoryWatches(transport);
  }

  /** Downloads a file of any size as a stream; follows symbolic links. Read the stream to its end or cancel it. @throws {ApiError} 404 `not_found`, 400 `not_a_file`. */
  readFile(browserId: string, query: FilePath, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(readFile, { params: { id: browserId }, query }, options);
  }
  /** Returns a file's content as text (UTF-8). @throws {ApiError} like {@link readFile}. */
  async readText(browserId: string, query: FilePath, options?: DownloadOptions): Promise<string> {
    const { stream } = await this.readFile(browserId, query, options);
    return new Response(stream).text();
  }
  /** Returns a file's content. @throws {ApiError} like {@link readFile}. */
  async readBytes(browserId: string, query: FilePath, options?: DownloadOptions): Promise<Uint8Array<ArrayBuffer>> {
    const { stream } = await this.readFile(browserId, query, options);
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  /** Writes a file as a stream, atomically, and creates missing directories. @throws {ApiError} 413, 507 when it is too large. */
  writeFile(browserId: string, content: BytesInput, query: WriteFile, options?: CallOptions): Call<void> {
    return this.#transport.call(writeFile, { params: { id: browserId }, query, body: content }, options);
  }
  /** Lists a directory, not recursively, sorted by name. @throws {ApiError} 404 `not_found`, 400 `not_a_directory`. */
  listFiles(browserId: string, query: FilePath, options?: CallOptions): Call<FileInfo[]> {
    return this.#transport.call(listFiles, { params: { id: browserId }, query }, options);
  }
  /** Creates a directory with its parents; does nothing when it exists. @throws {ApiError} 400 when a file has this path. */
  createDirectory(browserId: string, body: CreateDirectory, options?: CallOptions): Call<void> {
    return this.#transport.call(createDirectory, { params: { id: browserId }, body }, options);
  }
  /** Deletes a file, or a symbolic link itself. @throws {ApiError} 404 `not_found`, 400 `not_a_file`. */
  deleteFile(browserId: string, body: FilePath, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteFile, { params: { id: browserId }, body }, options);
  }
  /** Deletes a directory with its content. @throws {ApiError} 404 `not_found` unless `missing_ok` is set, 400 `not_a_directory`, 403 `protected_path` for `/`, the home directory and mounts. */
  deleteDirectory(
    browserId: string,
    body: FilePath,
    query: DeleteDirectoryQuery = {},
    options?: CallOptions,
  ): Call<void> {
    return this.#transport.call(deleteDirectory, { params: { id: browserId }, body, query }, options);
  }
  /** Sets permissions and optionally owner and group. @throws {ApiError} 404 `not_found`, 403 `permission_denied`. */
  setFilePermissions(browserId: string, body: SetFilePermissions, options?: CallOptions): Call<void> {
    return this.#transport.call(setFilePermissions, { params: { id: browserId }, body }, options);
  }
  /** Describes a file, a directory, or a symbolic link itself. @throws {ApiError} 404 `not_found`. */
  fileInfo(browserId: string, query: FilePath, options?: CallOptions): Call<FileInfo> {
    return this.#transport.call(getFileInfo, { params: { id: browserId }, query }, options);
  }
  /** Moves or renames a file or directory. Replaces an existing file, but not a directory. @throws {ApiError} 404 `not_found`, 409. */
  move(browserId: string, body: MovePath, options?: CallOptions): Call<void> {
    return this.#transport.call(movePath, { params: { id: browserId }, body }, options);
  }
  /** Uploads files as streams, each one atomically. @throws {ApiError} 413, 507 when they are too large. */
  upload(browserId: string, body: { readonly files: readonly UploadItem[] }, options?: CallOptions): Call<void> {
    return this.#transport.call(uploadFiles, { params: { id: browserId }, body }, options);
  }
  /** Uploads a ZIP archive and unpacks it into `dest_path`. @throws {ApiError} 400 `unsafe_archive` for paths outside the directory; 413, 507 when it is too large. */
  uploadZip(
    browserId: string,
    body: { readonly dest_path: string; readonly zip_file: BytesInput },
    options?: CallOptions,
  ): Call<void> {
    return this.#transport.call(uploadZip, { params: { id: browserId }, body }, options);
  }
  /** Downloads a directory as a ZIP archive, created while it is sent. @throws {ApiError} 404 `not_found`, 400 `not_a_directory`. */
  downloadDirZip(browserId: string, query: FilePath, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(downloadDirZip, { params: { id: browserId }, query }, options);
  }
}
