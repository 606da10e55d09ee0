import type { CommandEntry } from "../../core/types.ts";

const label = "Name of the person, for events and the audit log";
const exampleLink = "q8c1m5wz0h7rt3xk2vbn6yda";

export const handoffEntries: Readonly<Record<string, CommandEntry>> = {
  "browsers.handoff.request": {
    summary: "Hand a session over to a person",
    about:
      "Pauses input and changes by programs until the person returns control, or the handoff expires. Reading continues. Anyone with the printed URL can take control.",
    arguments: ["message"],
    help: {
      message: "The task for the person",
      timeout_seconds: "Seconds until the handoff and its link expire, 10 to 14400",
      on_automation: "Input of programs meanwhile: wait for the end, or be refused",
      label,
    },
    flags: { timeout_seconds: "-t, --timeout-seconds" },
    first: ["status", "url", "expires_at"],
    next: ["Wait for the person: shoal browsers handoff get {0} --wait-seconds 50"],
    examples: [
      "shoal browsers handoff request research 'Please sign in'",
      "shoal browsers handoff request research 'Please pay' --label 'Ana from finance' --on-automation refuse",
    ],
  },
  "browsers.handoff.get": {
    summary: "Show the handoff of a session",
    about: "The latest one, also after its end.",
    help: {
      handoff_id: "ID of an earlier handoff; default: the latest",
      wait_seconds: "Seconds to wait for the end, 0 to 50",
    },
    first: ["status", "note", "url"],
    watch: { field: "status", until: ["released", "expired", "canceled"] },
    examples: ["shoal browsers handoff get research", "shoal browsers handoff get research --watch"],
  },
  "browsers.handoff.release": {
    summary: "Return control to the programs",
    about: "Programs continue, and the link of the person ends.",
    help: { note: "Note about the result" },
    first: ["status", "note"],
    examples: ["shoal browsers handoff release research"],
  },
  "browsers.handoff.cancel": {
    summary: "Cancel a handoff",
    about: "Programs continue, and the link of the person ends.",
    first: ["status"],
    examples: ["shoal browsers handoff cancel research"],
  },
  "browsers.liveViewLinks.create": {
    summary: "Create a link to the live view",
    about: "Anyone with the printed URL can open it. The URL is printed only now.",
    help: {
      scope: "Read-only, or with mouse and keyboard",
      expires_in_seconds: "Seconds until the link expires, 10 to 2592000",
      label,
    },
    first: ["url", "expires_at"],
    examples: [
      "shoal browsers live-view-links create research",
      "shoal browsers live-view-links create research --scope operate --label 'Ana from finance'",
    ],
  },
  "browsers.liveViewLinks.list": {
    summary: "List links to the live view",
    columns: [
      ["ID", "id"],
      ["SCOPE", "scope"],
      ["LABEL", "label"],
      ["EXPIRES", "expires_at"],
    ],
    empty: "No valid links. Create one with: shoal browsers live-view-links create {0}",
    examples: ["shoal browsers live-view-links list research"],
  },
  "browsers.liveViewLinks.delete": {
    summary: "Revoke a link to the live view",
    about: "Disconnects its viewers.",
    confirm: "Revoke link {1} of browser {0}?",
    done: "Revoked.",
    examples: [`shoal browsers live-view-links delete research ${exampleLink} --yes`],
  },
};
