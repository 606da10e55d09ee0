import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { Suspense } from "react";
import { lazyPart } from "../parts/lazy-part.ts";

const Palette = lazyPart(() => import("./palette.tsx"), "Palette");
const ShortcutList = lazyPart(() => import("./shortcut-list.tsx"), "ShortcutList");

interface ShortcutsProps {
  readonly palette: ReturnType<typeof useDisclosure>;
}

/** Shortcuts of one key, which are off in fields, their list, and the palette, which opens everywhere. */
export function Shortcuts({ palette: [isPaletteOpen, palette] }: ShortcutsProps) {
  const [isOpen, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  useHotkeys([["mod+K", palette.toggle]], []);
  useHotkeys([
    ["1", () => void navigate({ to: "/" })],
    ["2", () => void navigate({ to: "/sessions" })],
    ["/", () => document.querySelector<HTMLInputElement>("[data-search]")?.focus(), { usePhysicalKeys: false }],
    ["shift+?", open],
  ]);
  return (
    <Suspense>
      {isOpen && <ShortcutList close={close} />}
      {isPaletteOpen && <Palette close={palette.close} />}
    </Suspense>
  );
}
