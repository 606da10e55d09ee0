import {
  deleteExtension,
  downloadExtension,
  downloadExtensionFromChromeStore,
  getExtension,
  listExtensions,
  uploadExtension,
} from "@shoal/contract";
import type { BytesInput } from "@shoal/contract/endpoint";
import type { ChromeStoreExtension, Extension, ListExtensions } from "@shoal/schemas";
import type { Call, CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";

/** An extension to upload. */
export interface ExtensionUpload {
  /** ZIP archive of the unpacked extension, at most 50 MiB: a `File`, a `Blob`, bytes, or a stream (not retried). `fileFromPath` of `@shoal/client/node` opens a path. */
  readonly file: BytesInput;
  /** Unique in the project: 1 to 255 letters, digits, dots, underscores and hyphens. */
  readonly name?: string;
}

/** Browser extensions that sessions can start with. */
export class Extensions {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Uploads an extension.
   *
   * @example
   * await shoal.extensions.upload({ name: "blocker", file: await fileFromPath("blocker.zip") });
   *
   * @throws {ApiError} 400 for an invalid extension; 409 `name_taken`; 413 for more than 50 MiB.
   */
  upload(body: ExtensionUpload, options?: CallOptions): Call<Extension> {
    return this.#transport.call(uploadExtension, { body }, options);
  }
  /** Lists extensions, newest first. `for await` iterates over all pages. */
  list(query: ListExtensions = {}, options?: CallOptions): Call<ItemPage<Extension>> {
    return this.#transport.call(listExtensions, { query }, options);
  }
  /** Gets an extension. Ids take precedence over names. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<Extension> {
    return this.#transport.call(getExtension, { params: { id_or_name: idOrName } }, options);
  }
  /** Downloads the uploaded ZIP archive; its SHA-256 is the extension's `checksum`. @throws {ApiError} 404 `not_found`. */
  download(idOrName: string, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(downloadExtension, { params: { id_or_name: idOrName } }, options);
  }
  /** Downloads an extension of the Chrome Web Store as a ZIP archive. Nothing is stored; {@link upload} does that. @throws {ApiError} 400 for a URL outside the store. */
  downloadFromChromeStore(query: ChromeStoreExtension, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(downloadExtensionFromChromeStore, { query }, options);
  }
  /** Deletes an extension. Running sessions keep it. @throws {ApiError} 404 `not_found`. */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteExtension, { params: { id_or_name: idOrName } }, options);
  }
}
