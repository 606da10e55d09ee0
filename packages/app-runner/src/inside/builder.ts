import { messageOf } from "@shoal/primitives";
import { Channel, flushOutput, forwardPorts, printError } from "../protocol/channel.ts";
import { BuilderTask } from "../protocol/messages.ts";
import { buildApp } from "./build/build-app.ts";
import { bundle } from "./build/bundle.ts";
import { fetchFile } from "./build/fetch-file.ts";
import { unpack } from "./build/archive.ts";
import { BuildFailure } from "./build/build-failure.ts";

/** `node builder.cjs CHANNEL ID`: performs one task. */
async function main(): Promise<void> {
  const [place = ""] = process.argv.splice(2);
  const channel = new Channel(place);
  const task = BuilderTask.parse(await channel.message());
  try {
    if ("forward" in task) await forwardPorts(task.forward);
    if (task.type === "build") await buildApp(task, channel);
    else if (task.type === "bundle") await bundle(task);
    else if (task.type === "fetch") await fetchFile(task, channel);
    else await unpack(task.archive, task.to, { maxBytes: task.max_bytes, maxFiles: task.max_files });
    await flushOutput();
    channel.send({ type: "done" });
  } catch (error) {
    if (!(error instanceof BuildFailure)) printError(error);
    await flushOutput();
    channel.send({ type: "failed", reason: messageOf(error).slice(0, 2_000) });
  }
  await channel.close();
  process.exit(0);
}

void main();
