import { hasCode } from "@shoal/primitives";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";

/** The package is optional. @throws {ExitError} with the install command if it is missing. */
export async function loadService(): Promise<typeof import("@shoal/server")> {
  try {
    return await import("@shoal/server");
  } catch (error) {
    if (hasCode(error, "ERR_MODULE_NOT_FOUND") && error.message.includes("@shoal/server"))
      throw new ExitError(
        exitCodes.start.status,
        "The package of the service is not installed.",
        "Install it with: npm install --global @shoal/server",
      );
    throw error;
  }
}
