import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

export {
  encodeFrame,
  encodeMessage,
  type Frame,
  frameHead,
  type FrameKind,
  FrameReader,
  maxFrameBytes,
} from "./protocol/frames.ts";
export {
  type BuilderTask,
  type BuildTask,
  type DeclaredSchedule,
  type Described,
  type FetchTask,
  FromBox,
  type Invoke,
  type Serve,
  type UnpackTask,
} from "./protocol/messages.ts";

/**
 * The programs for boxes, a folder of files that need only Node 24: `runner.cjs` runs apps, `builder.cjs` builds them.
 * Their first argument is the file descriptor of the channel, or the path of its socket.
 */
export const appRunnerFolder: string = fileURLToPath(new URL("../dist/program", import.meta.url));

/** Returns the path of esbuild's executable. @throws if this platform has none. */
export function esbuildPath(): string {
  const name = `@esbuild/${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  return require.resolve(`${name}/${process.platform === "win32" ? "esbuild.exe" : "bin/esbuild"}`);
}
