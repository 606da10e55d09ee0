import { type RemoteListening, remoteProtocols } from "@shoal/instance";
import { messageOf } from "@shoal/primitives";
import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { Dial } from "../boxes/box.ts";
import type { InstanceFiles } from "../boxes/instance-files.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { announcementOf } from "./announcement.ts";
import { EgressLink } from "./egress-link.ts";
import { firstLine } from "./first-line.ts";
import { connectRemote, type RemoteAddress } from "./remote-connection.ts";
import { StreamTunnel } from "./stream-tunnel.ts";
import { PassThrough, type Readable, type Writable } from "node:stream";

export interface StreamedInstanceOptions {
  readonly id: string;
  /** For messages. */
  readonly host: string;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly files: InstanceFiles;
  readonly identity: TlsIdentity;
  /** Its connections to the outside wait for {@link StreamedInstance.letOut}. */
  readonly isHeld?: boolean;
  /** The rest of a copy continues then. */
  readonly onAnnounced?: (() => void) | undefined;
  readonly log: PlacementLog;
}

/** A copy first prints bytes that were on their way when it was made. */
const maxLines = 64;
const maxLineBytes = 2 ** 20;

/** The connection to an instance that is reached through its standard input and output alone. */
export class StreamedInstance {
  /** Says when it listens. */
  readonly stdout = new PassThrough();
  readonly #options: StreamedInstanceOptions;
  #address: RemoteAddress | undefined;
  #tunnel: StreamTunnel | undefined;
  #link: EgressLink | undefined;
  #isClosed = false;

  constructor(options: StreamedInstanceOptions) {
    this.#options = options;
    this.#listen().catch((error: unknown) => {
      options.log.debug(
        { instance_id: options.id, error: messageOf(error) },
        "An instance did not say that it listens.",
      );
    });
  }

  reach(): Promise<Dial> {
    const address = this.#address;
    if (address === undefined) return Promise.reject(new Error("The instance does not listen."));
    const { identity, isHeld = false } = this.#options;
    if (!isHeld) this.letOut();
    return Promise.resolve(() => connectRemote(address, identity, remoteProtocols.instance));
  }

  /** Opens the way out. Does nothing before {@link StreamedInstance.reach}. */
  letOut(): void {
    const address = this.#address;
    if (address === undefined || this.#link !== undefined || this.#isClosed) return;
    const { files, identity } = this.#options;
    const sockets = { egress: files.egressSocket, api: files.apiSocket };
    this.#link = new EgressLink({ address, identity, sockets });
    this.#link.open();
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.close();
    this.#tunnel?.close();
    this.stdout.end();
  }

  /** The stream proves the key: nothing but the instance program has run in the box yet, or in this copy of it. */
  async #listen(): Promise<void> {
    const { files, host, stdin, stdout } = this.#options;
    let announced: RemoteListening | undefined;
    for (let line = 0; announced === undefined && line < maxLines; line++)
      announced = announcementOf(await firstLine(stdout, maxLineBytes));
    if (announced === undefined) throw new Error(`none of its first ${String(maxLines)} lines says so`);
    this.#options.onAnnounced?.();
    const tunnel = await StreamTunnel.open(stdout, stdin, files.instanceSocket);
    if (this.#isClosed) {
      tunnel.close();
      return;
    }
    this.#tunnel = tunnel;
    this.#address = { host, pin: announced.pin, dial: () => tunnel.dial() };
    this.stdout.write('{"listening":true}\n');
  }
}
