import * as Ant from "antd";
import dayjs from "dayjs";
import { useState } from "react";
import { done, show } from "./show.jsx";

const options = ["Red", "Green", "Blue"].map((value) => ({ value, label: value }));

function Modal() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Ant.Button onClick={() => setOpen(true)}>Edit</Ant.Button>
      <Ant.Modal
        title="Settings"
        open={open}
        onOk={() => (done("saved"), setOpen(false))}
        onCancel={() => setOpen(false)}
        okText="Save"
      >
        <Ant.Input placeholder="Title" />
      </Ant.Modal>
    </>
  );
}

function Table() {
  const data = Array.from({ length: 30 }, (_, i) => ({ key: i, name: `Item ${i + 1}` }));
  return (
    <Ant.Table
      pagination={{ pageSize: 5, showSizeChanger: false }}
      rowSelection={{ onChange: (keys) => done(keys.join()) }}
      columns={[{ title: "Name", dataIndex: "name", sorter: (a, b) => a.key - b.key }]}
      dataSource={data}
    />
  );
}

show({
  select: () => (
    <Ant.Select aria-label="Colour" style={{ width: 200 }} placeholder="Colour" options={options} onChange={done} />
  ),
  "multiple select": () => (
    <Ant.Select
      aria-label="Colours"
      mode="multiple"
      style={{ width: 300 }}
      options={options}
      onChange={(v) => done(v.join())}
    />
  ),
  cascader: () => (
    <Ant.Cascader
      style={{ width: 200 }}
      placeholder="Place"
      options={[
        {
          value: "Portugal",
          label: "Portugal",
          children: [
            { value: "Lisbon", label: "Lisbon" },
            { value: "Porto", label: "Porto" },
          ],
        },
      ]}
      onChange={(v) => done(v.join("/"))}
    />
  ),
  "date picker": () => (
    <Ant.DatePicker defaultPickerValue={dayjs("2027-05-10")} placeholder="Arrival" onChange={(_, text) => done(text)} />
  ),
  tree: () => (
    <Ant.Tree
      onSelect={([key]) => done(key)}
      treeData={[
        {
          key: "docs",
          title: "Documents",
          children: [
            { key: "invoice", title: "Invoice" },
            { key: "letter", title: "Letter" },
          ],
        },
      ]}
    />
  ),
  radio: () => (
    <Ant.Radio.Group onChange={(e) => done(e.target.value)} options={["Small", "Large"]} optionType="button" />
  ),
  segmented: () => <Ant.Segmented options={["Daily", "Weekly", "Monthly"]} onChange={done} />,
  rate: () => <Ant.Rate onChange={done} />,
  "input number": () => <Ant.InputNumber aria-label="Amount" defaultValue={3} onChange={done} />,
  transfer: () => (
    <Ant.Transfer
      dataSource={["Anna", "Ben"].map((key) => ({ key, title: key }))}
      targetKeys={[]}
      titles={["All", "Chosen"]}
      render={(i) => i.title}
      onSelectChange={(s) => done(s.join())}
    />
  ),
  dropdown: () => (
    <Ant.Dropdown
      trigger={["hover"]}
      menu={{
        items: [
          { key: "copy", label: "Copy" },
          { key: "move", label: "Move" },
        ],
        onClick: ({ key }) => done(key),
      }}
    >
      <Ant.Button>More</Ant.Button>
    </Ant.Dropdown>
  ),
  popconfirm: () => (
    <Ant.Popconfirm title="Delete it?" okText="Delete" onConfirm={() => done("deleted")}>
      <Ant.Button>Remove</Ant.Button>
    </Ant.Popconfirm>
  ),
  modal: Modal,
  table: Table,
});
