import { serve } from "../main/server.ts";

// A service as a separate process, for tests that kill it. Settings come from the environment.
const server = await serve();
process.on("SIGUSR2", () => {
  server.drain();
});
process.on("SIGTERM", () => {
  void server.close().then(() => process.exit(0));
});
