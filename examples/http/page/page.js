// Calls the API by its REST forms and listens to events; "sabir gen ts" writes a typed client for larger programs.
const [form, message, list] = ["form", "output", "ul"].map((name) => document.querySelector(name));

function show(order) {
  const id = `order-${order.id}`;
  const item = document.getElementById(id) ?? list.appendChild(Object.assign(document.createElement("li"), { id }));
  item.textContent = `${order.quantity} × ${order.item}, ${order.state}`;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = { item: form.item.value, quantity: form.quantity.valueAsNumber };
  const answer = await fetch("/orders", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(input) });
  message.textContent = answer.ok ? "" : (await answer.json()).detail;
});

const events = new EventSource("/events?topic=orders.*");
for (const name of ["orders.placed", "orders.cancelled"]) events.addEventListener(name, (e) => show(JSON.parse(e.data).payload));

for (const order of await (await fetch("/orders")).json()) show(order);
