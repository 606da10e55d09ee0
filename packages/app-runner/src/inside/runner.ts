import { bundleName } from "../protocol/bundle-name.ts";
import { Channel, flushOutput, forwardPorts, printError } from "../protocol/channel.ts";
import { maxFrameBytes } from "../protocol/frames.ts";
import { Invoke, Serve } from "../protocol/messages.ts";
import { CompileCache } from "./node/compile-cache.ts";
import { type ActionEnd, messageOf, Registries } from "./node/registries.ts";
import { runPython } from "./python.ts";
import { existsSync } from "node:fs";
import { setSourceMapsSupport } from "node:module";
import { pathToFileURL } from "node:url";

const maxReasonCharacters = 2_000;

/** `node runner.cjs CHANNEL ID`: imports an app and executes one invocation. */
async function main(): Promise<void> {
  // Apps compare their own path with the first argument.
  const [place = ""] = process.argv.splice(2);
  const channel = new Channel(place);
  const serve = Serve.parse(await channel.message());
  await forwardPorts(serve.forward);
  Object.assign(process.env, serve.env);
  if (serve.python !== undefined) {
    await runPython(channel, serve, serve.python);
    return;
  }
  const cache =
    serve.compile_cache === undefined
      ? undefined
      : new CompileCache(serve.compile_cache === "record" ? undefined : serve.compile_cache);
  const registries = new Registries();
  registries.watch();
  // Errors name the lines of the sources.
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
  try {
    await import(pathToFileURL(bundleOf(serve)).href);
    const apps = await registries.describe();
    await cache?.send(channel);
    channel.send({ type: "ready", apps });
  } catch (error) {
    printError(error);
    await flushOutput();
    channel.send({ type: "failed", reason: cut(messageOf(error)) });
    await channel.close();
    process.exit(1);
  }
  const call = Invoke.parse(await channel.message());
  const payload = call.has_payload ? (await channel.next()).content.toString("utf8") : undefined;
  process.env.KERNEL_INVOCATION = call.invocation_id;
  const end = bounded(await registries.run({ ...call, payload }));
  await flushOutput();
  if (end.output !== undefined) channel.sendValue(end.output);
  channel.send({
    type: "result",
    status: end.status,
    has_output: end.output !== undefined,
    ...(end.status === "failed" && { status_reason: reasonOf(end) }),
  });
  await channel.close();
  process.exit(0);
}

function bundleOf({ entry, bundle }: Serve): string {
  const [esm, cjs] = [bundleName(entry, "esm", bundle), bundleName(entry, "cjs", bundle)];
  return existsSync(cjs) ? cjs : esm;
}

function bounded(end: ActionEnd): ActionEnd {
  const bytes = Buffer.byteLength(end.output ?? "");
  if (bytes <= maxFrameBytes.value) return end;
  const error = `The output has ${String(bytes)} bytes; the limit is ${String(maxFrameBytes.value)}. Store large results elsewhere and return their address.`;
  return { status: "failed", output: JSON.stringify({ error }) };
}

function reasonOf({ output }: ActionEnd): string {
  const { error } = JSON.parse(output ?? "{}") as { error?: string };
  return cut(error ?? "The action failed.");
}

function cut(text: string): string {
  return text.length > maxReasonCharacters ? `${text.slice(0, maxReasonCharacters)}…` : text;
}

void main();
