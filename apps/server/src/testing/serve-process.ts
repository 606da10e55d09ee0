import { serve } from "../server.ts";

// A service as a program of its own, for tests that kill it: settings come from the environment.
const server = await serve();
process.on("SIGTERM", () => {
  void server.close().then(() => process.exit(0));
});
