import { fileURLToPath } from "node:url";

/**
 * The instance program, one folder of plain JavaScript that needs nothing but Node 24: bind or copy the folder that it lies in.
 * It takes its {@link InstanceConfig} from the environment variable `SHOAL_INSTANCE`, prints `{"listening":true}` on stdout once it
 * listens, logs JSON lines on stderr, and ends when its stdin does.
 *
 * `node start.cjs --fill-cache DIR` compiles all of it into DIR and exits, so that DIR can be given, read-only, as `cache_dir`.
 * Made by the package's build, so it does not exist in a checkout that was not built.
 */
export const instanceProgramPath: string = fileURLToPath(new URL("../dist/program/start.cjs", import.meta.url));

/** The page of the live view: one HTML document with its style and script, made by the package's build. */
export const liveViewPagePath: string = fileURLToPath(new URL("../dist/program/live-view.html", import.meta.url));

/** The page that plays a recording, likewise. */
export const replayPagePath: string = fileURLToPath(new URL("../dist/program/replay.html", import.meta.url));
