import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";

/** Loads the service's package. The command works without it, against a service elsewhere. @throws {ExitError} saying how to install it. */
export async function loadService(): Promise<typeof import("@shoal/server")> {
  try {
    return await import("@shoal/server");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes("@shoal/server"))
      throw new ExitError(exitCodes.start.status, "The service is not installed: it is a package of its own.", "npm install --global @shoal/server");
    throw error;
  }
}
