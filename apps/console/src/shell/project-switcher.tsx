import { Button, Text } from "@mantine/core";
import { ChevronsUpDown } from "lucide-react";
import { useSignedIn } from "../api/shoal.ts";
import { lazyMenu, MenuButton } from "./menu-button.tsx";

const menu = lazyMenu(() => import("./project-menu.tsx"));

/** Shows the project, and changes it if the person can open several. */
export function ProjectSwitcher() {
  const { session, project } = useSignedIn();
  if (project === undefined) return null;
  if (session.projects.length === 1)
    return (
      <Text size="sm" c="dimmed" truncate maw={200}>
        {project.name}
      </Text>
    );
  return (
    <MenuButton
      menu={menu}
      button={
        <Button
          variant="default"
          size="xs"
          rightSection={<ChevronsUpDown size={14} aria-hidden />}
          aria-label={`Project ${project.name}. Change the project`}
          aria-haspopup="menu"
          maw={220}
        >
          {project.name}
        </Button>
      }
    />
  );
}
