export { fetchVia, fileFromPath, type Undici } from "@shoal/transport/node";
