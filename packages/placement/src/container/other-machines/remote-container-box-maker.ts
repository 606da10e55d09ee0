import { disableInspectorSignal } from "@shoal/instance";
import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { Box, BoxMaker, HostedProgram, Viewport } from "../../boxes/box.ts";
import {
  homePath,
  type InstanceFiles,
  type InstanceFilesOptions,
  makeInstanceFiles,
} from "../../boxes/instance-files.ts";
import type { PlacementLog } from "../../interface/placement-log.ts";
import { hostBytes, hostedConfig, remoteConfig } from "../../image/remote-config.ts";
import { splitAttached } from "../attached-streams.ts";
import { type ContainerOptions, containerSpec } from "../container-spec.ts";
import { type ContainerEngine, explainEngine } from "../engine.ts";
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
  /** Without namespaces. */
  readonly programSeccomp: string;
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
    const { contents, diskBytes, identity, memoryBytes, seccomp } = this.#options;
    const files = await makeInstanceFiles(id, this.#options);
    const config = remoteConfig({ id, viewport, contents, remote: { service_pin: identity.pin } });
    const env = { SHOAL_INSTANCE: JSON.stringify(config) };
    return this.#run(id, files, { env, memoryBytes, diskBytes, seccomp }).catch(async (error: unknown) => {
      await files.clear();
      throw error;
    });
  }

  async host(id: string, { copies, files, options }: HostedProgram): Promise<Box> {
    const { identity, programSeccomp: seccomp } = this.#options;
    const { diskBytes, maxProcesses, memoryBytes, scratch } = options;
    const env = { SHOAL_PROGRAM: JSON.stringify(hostedConfig({ id, remote: { service_pin: identity.pin } })) };
    const program = { folder: homePath, scratch, maxProcesses, copies };
    return this.#run(id, files, { env, diskBytes, seccomp, program, memoryBytes: memoryBytes + hostBytes });
  }

  async #run(
    id: string,
    files: InstanceFiles,
    options: Omit<ContainerOptions, "command" | "image" | "labels" | "mounts">,
  ): Promise<Box> {
    const { contents, engine, identity, image, log, programFile, server } = this.#options;
    let container: string | undefined;
    try {
      const spec = containerSpec({
        ...options,
        image,
        labels: { [serverLabel]: server },
        command: [contents.node, disableInspectorSignal, `${imageProgramFolder}/${programFile}`, id],
        mounts: [],
      });
      container = await engine.create(`shoal-${id}`, spec);
      const streams = splitAttached(await engine.startAttached(container));
      const running = new RunningContainer({ engine, container, instanceId: id, log });
      return new RemoteContainerBox(id, { container: running, host: engine.name, streams, files, identity, log });
    } catch (error) {
      if (container !== undefined) await engine.remove(container).catch(() => undefined);
      throw explainEngine(error);
    }
  }
}
