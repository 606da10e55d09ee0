/** A process of its own that serves a temporary directory, so that a test can look at its memory. Started with `fork`; ends with its channel. */
import { serveFileSystem } from "./serve.ts";

await using fs = await serveFileSystem("/");
process.send?.({ url: fs.url, directory: fs.directory });
process.on("message", () => {
  process.send?.({ maxRssBytes: process.resourceUsage().maxRSS * 1024 });
});
await new Promise((resolve) => process.on("disconnect", resolve));
