export { fileFromPath } from "./file-from-path.ts";
export { fetchVia, type Undici } from "./fetch-via.ts";
