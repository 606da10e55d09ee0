import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { Suspense } from "react";
import { lazyPart } from "../parts/lazy-part.ts";

const ShortcutList = lazyPart(() => import("./shortcut-list.tsx"), "ShortcutList");

/** Shortcuts of one key, which are off in fields, and their list. */
export function Shortcuts() {
  const [isOpen, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  useHotkeys([
    ["1", () => void navigate({ to: "/" })],
    ["2", () => void navigate({ to: "/sessions" })],
    ["/", () => document.querySelector<HTMLInputElement>("[data-search]")?.focus(), { usePhysicalKeys: false }],
    ["shift+?", open],
  ]);
  return <Suspense>{isOpen && <ShortcutList close={close} />}</Suspense>;
}
