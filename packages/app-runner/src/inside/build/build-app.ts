import type { Channel } from "../../protocol/channel.ts";
import type { BuildTask } from "../../protocol/messages.ts";
import { sendFolder, unpack } from "./archive.ts";
import { bundle } from "./bundle.ts";
import { dependencyFolder, install, requirePython } from "./install.ts";
import { refuseOutsideLinks } from "./outside.ts";
import { cp, stat } from "node:fs/promises";
import { basename, join } from "node:path";

const unlimited = { maxBytes: Number.MAX_SAFE_INTEGER, maxFiles: 1_000_000 };
/** Not from the author's machine: its packages may be for another system. */
const omitted: ReadonlySet<string> = new Set([".git", ".venv", "node_modules", dependencyFolder.python]);

export async function buildApp(task: BuildTask, channel: Channel): Promise<void> {
  const { language, source, work, dependencies } = task;
  if (language === "python") await requirePython();
  await cp(source, work, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => path === source || !omitted.has(basename(path)),
  });
  await refuseOutsideLinks(work);
  const folder = dependencyFolder[language];
  if (dependencies === undefined) {
    await install(task);
    if (task.send_dependencies && (await exists(join(work, folder)))) {
      channel.send({ type: "file", name: "dependencies" });
      await sendFolder(channel, work, folder);
    }
  } else {
    process.stdout.write("Using the dependencies of an earlier build with the same manifest and lockfile.\n");
    await unpack(dependencies, work, unlimited);
  }
  if (language === "node") await bundle(task);
  channel.send({ type: "file", name: "artifact" });
  await sendFolder(channel, work, "");
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
