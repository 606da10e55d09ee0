import { remoteProtocols } from "@shoal/instance";
import { messageOf } from "@shoal/primitives";
import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { Box, Dial, Exit } from "../../boxes/box.ts";
import type { InstanceFiles } from "../../boxes/instance-files.ts";
import type { EgressControls } from "../../interface/egress.ts";
import { PlacementError } from "../../interface/placement-error.ts";
import type { PlacementLog } from "../../interface/placement-log.ts";
import { announcementOf } from "../../remote/announcement.ts";
import { EgressLink } from "../../remote/egress-link.ts";
import { connectRemote, type RemoteAddress } from "../../remote/remote-connection.ts";
import { StreamTunnel } from "../../remote/stream-tunnel.ts";
import type { AttachedStreams } from "../attached-streams.ts";
import { firstLine } from "./first-line.ts";
import type { RunningContainer } from "../running-container.ts";
import { PassThrough, type Readable } from "node:stream";

export interface RemoteContainerBoxParts {
  readonly container: RunningContainer;
  /** The engine's address, for messages. */
  readonly host: string;
  readonly streams: AttachedStreams;
  readonly files: InstanceFiles;
  readonly identity: TlsIdentity;
  readonly log: PlacementLog;
}

/** Bytes of the line by which an instance says that it listens. */
const maxLineBytes = 4_096;

/** An instance in a container of another machine, reached through its standard input and output. */
export class RemoteContainerBox implements Box {
  readonly id: string;
  readonly pid = undefined;
  readonly stdout = new PassThrough();
  readonly stderr: Readable;
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  readonly asksToEnd = false;
  readonly #parts: RemoteContainerBoxParts;
  #address: RemoteAddress | undefined;
  #tunnel: StreamTunnel | undefined;
  #link: EgressLink | undefined;

  constructor(id: string, parts: RemoteContainerBoxParts) {
    this.id = id;
    this.stderr = parts.streams.stderr;
    this.egress = parts.files.egress;
    this.#parts = parts;
    this.gone = parts.container.ended().finally(() => {
      this.#link?.close();
      this.#tunnel?.close();
      parts.streams.close();
      this.stdout.end();
    });
    this.#listen().catch((error: unknown) => {
      parts.log.debug({ instance_id: id, error: messageOf(error) }, "An instance did not say that it listens.");
    });
  }

  kill(): void {
    this.#parts.container.kill();
  }

  reach(): Promise<Dial> {
    const address = this.#address;
    if (address === undefined) return Promise.reject(new Error("The instance does not listen."));
    const { files, identity } = this.#parts;
    const sockets = { egress: files.egressSocket, api: files.apiSocket };
    this.#link = new EgressLink({ address, identity, sockets });
    this.#link.open();
    return Promise.resolve(() => connectRemote(address, identity, remoteProtocols.instance));
  }

  setPolicies(): Promise<string> {
    return Promise.reject(
      new PlacementError("bad_option", "Sessions in containers of other machines cannot have policies."),
    );
  }

  setMemory(bytes: number): Promise<void> {
    return this.#parts.container.setMemory(bytes);
  }

  async clear(): Promise<void> {
    await this.#parts.files.clear();
  }

  /** The engine's answer proves the key: nothing but the instance program has run in the container yet. */
  async #listen(): Promise<void> {
    const { files, host, streams } = this.#parts;
    const announced = announcementOf(await firstLine(streams.stdout, maxLineBytes));
    if (announced === undefined) throw new Error("its first line is another one");
    const tunnel = await StreamTunnel.open(streams.stdout, streams.stdin, files.instanceSocket);
    this.#tunnel = tunnel;
    this.#address = { host, pin: announced.pin, dial: () => tunnel.dial() };
    this.stdout.write('{"listening":true}\n');
  }
}
