import { Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { useSignedIn } from "../api/shoal.ts";
import type { OpenedMenuProps } from "./menu-button.tsx";
import { OpenedMenu } from "./opened-menu.tsx";

export default function ProjectMenu({ button }: OpenedMenuProps) {
  const { session, project } = useSignedIn();
  const navigate = useNavigate();
  return (
    <OpenedMenu button={button} position="bottom-start" width={260}>
      <Menu.Dropdown mah={400} style={{ overflowY: "auto" }}>
        <Menu.Label>Projects</Menu.Label>
        {session.projects.map(({ id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => void navigate({ to: "/", search: { project: id } })}
            rightSection={id === project?.id ? <Check size={14} aria-label="Current" /> : undefined}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </OpenedMenu>
  );
}
