import { fileURLToPath } from "node:url";

/**
 * The instance program: a folder of plain JavaScript that needs only Node 24. Bind or copy the whole folder. It reads
 * {@link InstanceConfig} from the environment variable `SHOAL_INSTANCE`, prints `{"listening":true}` to stdout, logs
 * JSON lines to stderr, and exits when stdin ends. `node start.cjs --fill-cache DIR` compiles the program into DIR,
 * which can then be passed, read-only, as `cache_dir`.
 */
export const instanceProgramPath: string = fileURLToPath(new URL("../../dist/program/start.cjs", import.meta.url));

export const liveViewPagePath: string = fileURLToPath(new URL("../../dist/program/live-view.html", import.meta.url));
