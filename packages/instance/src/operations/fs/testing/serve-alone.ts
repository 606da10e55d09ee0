/** Serves a temporary directory in a separate process, to measure its memory. Ends with its channel. */
import { serveFileSystem } from "./serve.ts";

await using fs = await serveFileSystem("/");
process.send?.({ url: fs.url, directory: fs.directory });
process.on("message", () => {
  process.send?.({ maxRssBytes: process.resourceUsage().maxRSS * 1024 });
});
await new Promise((resolve) => process.on("disconnect", resolve));
