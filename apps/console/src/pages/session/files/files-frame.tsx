import { Table, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";

/** A table of files. @param dated - what happened at the time of its third column. */
export function FilesFrame({ children, dated }: { readonly children: ReactNode; readonly dated: string }) {
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table highlightOnHover verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th w={100}>Size</Table.Th>
            <Table.Th w={140} visibleFrom="sm">
              {dated}
            </Table.Th>
            <Table.Th w={50}>
              <VisuallyHidden>Download</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
