import { disableInspectorSignal } from "@shoal/instance";
import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { Box, BoxMaker, Viewport } from "../../boxes/box.ts";
import { type InstanceFilesOptions, makeInstanceFiles } from "../../boxes/instance-files.ts";
import type { PlacementLog } from "../../interface/placement-log.ts";
import { remoteConfig } from "../../image/remote-config.ts";
import { splitAttached } from "../attached-streams.ts";
import { containerSpec, inside } from "../container-spec.ts";
import type { ContainerEngine } from "../engine.ts";
import { type ImageContents, imageProgramFolder } from "../../image/image-contents.ts";
import { serverLabel } from "../leftovers.ts";
import { RemoteContainerBox } from "./remote-container-box.ts";
import { RunningContainer } from "../running-container.ts";

export interface RemoteContainerBoxOptions extends InstanceFilesOptions {
  readonly engine: ContainerEngine;
  readonly image: string;
  readonly contents: ImageContents;
  /** Name of the instance program in the image. */
  readonly programFile: string;
  readonly seccomp: string;
  /** Names this server process in labels. */
  readonly server: string;
  readonly identity: TlsIdentity;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly log: PlacementLog;
}

/** Starts each instance in a container of another machine, without a network. The engine carries all connections. */
export class RemoteContainerBoxMaker implements BoxMaker {
  readonly kind = "docker";
  readonly #options: RemoteContainerBoxOptions;

  constructor(options: RemoteContainerBoxOptions) {
    this.#options = options;
  }

  async start(id: string, viewport: Viewport): Promise<Box> {
    const { contents, engine, identity, image, log, programFile, server, ...options } = this.#options;
    const files = await makeInstanceFiles(id, this.#options);
    let container: string | undefined;
    try {
      const remote = { service_pin: identity.pin };
      const config = remoteConfig({ id, viewport, contents, remote, stateFolder: inside.state });
      const spec = containerSpec({
        image,
        labels: { [serverLabel]: server },
        command: [contents.node, disableInspectorSignal, `${imageProgramFolder}/${programFile}`, id],
        env: { SHOAL_INSTANCE: JSON.stringify(config) },
        mounts: [],
        memoryBytes: options.memoryBytes,
        diskBytes: options.diskBytes,
        seccomp: options.seccomp,
      });
      container = await engine.create(`shoal-${id}`, spec);
      const streams = splitAttached(await engine.startAttached(container));
      const running = new RunningContainer({ engine, container, instanceId: id, log });
      return new RemoteContainerBox(id, { container: running, host: engine.name, streams, files, identity, log });
    } catch (error) {
      if (container !== undefined) await engine.remove(container).catch(() => undefined);
      await files.clear();
      throw error;
    }
  }
}
