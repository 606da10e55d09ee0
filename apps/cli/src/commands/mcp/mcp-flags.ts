import type { GlobalFlags } from "../../core/types.ts";

/** Flags of the server, as in an installed entry. */
export interface McpFlags extends GlobalFlags {
  readonly tools?: string;
  readonly session?: string;
  readonly profile?: string;
  readonly saveChanges?: boolean;
  readonly proxy?: string;
  readonly startUrl?: string;
  readonly stealth?: boolean;
  readonly headless: boolean;
  readonly timeoutSeconds?: string;
  readonly outlineTokens?: string;
  readonly structured: boolean;
}

export interface InstallFlags extends McpFlags {
  readonly client?: readonly string[];
  readonly name: string;
}

export type ClientName =
  "claude-code" | "claude-desktop" | "codex" | "cursor" | "gemini" | "vscode" | "windsurf" | "zed";
