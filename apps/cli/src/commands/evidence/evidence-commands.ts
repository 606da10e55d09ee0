import type { Command } from "commander";
import type { Adding } from "../../core/types.ts";
import { examplesHelp, fileOption, outputOption } from "../command-line.ts";
import type { EvidenceFlags, VerifyFlags } from "./evidence.ts";

/** Adds `evidence` and `evidence verify`. Their code loads when one of them runs. */
export function addEvidenceCommands({ groupFor, likeOperation, names, run, specOf }: Adding): void {
  const evidence = groupFor([])
    .command("evidence")
    .argument("[id-or-name]", "ID or name of the session (default: SHOAL_SESSION, or this terminal's)")
    .addOption(fileOption("write"))
    .option("--include <parts>", "Only these parts: telemetry, har, trace, outlines, pictures, recordings, downloads")
    .summary("Download the evidence of a session, or verify it")
    .description(
      "Download the evidence of a session as one archive\n\nContains telemetry, requests as HAR, pictures, recordings and downloads, with a signed manifest. Works while the session runs and after its end.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal evidence research -f evidence.zip",
        "shoal evidence research --include telemetry,har -f evidence.zip",
        "shoal evidence verify evidence.zip",
      ]),
    )
    .action(async (session: string | undefined, _options: unknown, called: Command) => {
      const { downloadEvidence } = await import("./evidence.ts");
      await downloadEvidence(specOf("browsers.evidence"), session, called.optsWithGlobals<EvidenceFlags>(), run);
    });
  names.set(evidence, { id: "[id-or-name]", include: "--include" });
  likeOperation.set(evidence, "browsers.evidence");
  evidence
    .command("verify")
    .argument("<archive>", "Local archive")
    .option("--key <key>", "Public key of the project, from shoal evidence-key get (default: asks the service)")
    .addOption(outputOption())
    .summary("Verify the signature and the files of an archive")
    .description(
      "Verify the signature and the files of an archive\n\nFails if a file was changed, added or removed, or if another key signed the manifest.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal evidence verify evidence.zip",
        "shoal evidence verify evidence.zip --key 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      ]),
    )
    .action(async (archive: string, _options: unknown, called: Command) => {
      const { verifyEvidence } = await import("./evidence.ts");
      await verifyEvidence(specOf("evidenceKey.get"), archive, called.optsWithGlobals<VerifyFlags>(), run);
    });
}
