export { fetchVia, fileFromPath, type Undici } from "@shoal/transport/node";
export { saveTo, type SaveOptions } from "./save-to.ts";
