import { PassThrough, Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { shoalServer } from "../main/shoal-server.ts";

/** Runs a command of `shoal-server` in this process. */
export async function runShoalServer(
  args: readonly string[],
  stdin: Readable = Readable.from([]),
  env: NodeJS.ProcessEnv = {},
): Promise<{ status: number; stdout: Buffer; stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = Promise.all([buffer(stdout), text(stderr)]);
  const status = await shoalServer(args, env, { stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { status, stdout: out, stderr: err };
}
