import { disableInspectorSignal, type InstanceConfig } from "@shoal/instance";
import type { Box, BoxMaker, Viewport } from "../boxes/box.ts";
import type { InstalledProgram } from "../boxes/installed-program.ts";
import { homePath, type InstanceFiles, type InstanceFilesOptions, makeInstanceFiles } from "../boxes/instance-files.ts";
import { makePolicies, policiesOf } from "../boxes/policies.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { splitAttached } from "./attached-streams.ts";
import { ContainerBox } from "./container-box.ts";
import { containerSpec, inside, type Mount } from "./container-spec.ts";
import { type ContainerEngine, explainEngine } from "./engine.ts";
import type { ImageContents } from "../image/image-contents.ts";
import { folderLabel } from "./leftovers.ts";
import { RunningContainer } from "./running-container.ts";
import { chmod } from "node:fs/promises";
import { basename, dirname } from "node:path";

export interface ContainerBoxOptions extends InstanceFilesOptions {
  readonly engine: ContainerEngine;
  readonly image: string;
  readonly contents: ImageContents;
  readonly seccomp: string;
  /** File with the accounts of the containers. */
  readonly accounts: string;
  readonly program: InstalledProgram;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly log: PlacementLog;
}

/** Starts each instance in a container. Its only ways out are two sockets of the service. */
export class ContainerBoxMaker implements BoxMaker {
  readonly kind = "docker";
  readonly #options: ContainerBoxOptions;

  constructor(options: ContainerBoxOptions) {
    this.#options = options;
  }

  async start(id: string, viewport: Viewport): Promise<Box> {
    const { diskBytes, engine, folders, image, log, memoryBytes, seccomp } = this.#options;
    const files = await makeInstanceFiles(id, this.#options);
    const socketName = basename(files.instanceSocket);
    let container: string | undefined;
    try {
      await makePolicies(files);
      await openTo(files);
      const config = this.#configOf(id, { files, socketName, viewport });
      const spec = containerSpec({
        image,
        labels: { [folderLabel]: folders.sessionsDir },
        command: [...this.#program(), id],
        env: { SHOAL_INSTANCE: JSON.stringify(config) },
        mounts: this.#mounts(files),
        memoryBytes,
        diskBytes,
        seccomp,
      });
      container = await engine.create(`shoal-${id}`, spec);
      const streams = splitAttached(await engine.startAttached(container));
      const pid = await engine.pidOf(container);
      const running = new RunningContainer({ engine, container, instanceId: id, log });
      return new ContainerBox(id, { container: running, pid, streams, files, socketName });
    } catch (error) {
      if (container !== undefined) await engine.remove(container).catch(() => undefined);
      await files.clear();
      throw explainEngine(error);
    }
  }

  #program(): readonly string[] {
    const { contents, program } = this.#options;
    return [
      ...(contents.loader === undefined ? [] : [contents.loader]),
      contents.node,
      disableInspectorSignal,
      `${inside.program}/${basename(program.path)}`,
    ];
  }

  #mounts(files: InstanceFiles): readonly Mount[] {
    const { accounts, program } = this.#options;
    return [
      { from: files.sockets, to: inside.sockets },
      { from: files.state, to: inside.listen, writable: true },
      { from: policiesOf(files), to: inside.policies },
      { from: dirname(program.path), to: inside.program },
      { from: accounts, to: inside.accounts },
    ];
  }

  #configOf(
    id: string,
    {
      files,
      socketName,
      viewport,
    }: { readonly files: InstanceFiles; readonly socketName: string; readonly viewport: Viewport },
  ): InstanceConfig {
    const { contents } = this.#options;
    const { innerSandbox: inner_sandbox, full } = contents;
    return {
      instance_id: id,
      listen_path: `${inside.listen}/${socketName}`,
      listen_for_all: true,
      egress_path: `${inside.sockets}/${basename(files.egressSocket)}`,
      root: "/",
      home: homePath,
      session_dir: inside.state,
      chromium: {
        ...contents.chromium,
        inner_sandbox,
        ...(full !== undefined && { full: { executable: full, inner_sandbox } }),
      },
      viewport,
      node: contents.node,
    };
  }
}

/** The user of the container is another one. The folders above these are closed to other users of this machine. */
async function openTo(files: InstanceFiles): Promise<void> {
  await Promise.all([
    chmod(files.sockets, 0o755),
    chmod(files.egressSocket, 0o666),
    // Until the instance listens.
    chmod(files.state, 0o777),
  ]);
}
