import assert from "node:assert/strict";
import test from "node:test";

import { addItem, removeItem } from "../src/cart.js";
import { checkout } from "../src/checkout/steps.js";
import { formatPrice } from "../src/format.js";

const CART = { items: [{ id: 1, cents: 2000 }] };
const ADDRESS = { name: "A", street: "B", city: "C" };

test("an item is added and removed", () => {
  assert.deepEqual(removeItem(addItem(CART, { id: 2, cents: 1 }), 2), CART);
});

test("an order has a total", () => {
  assert.equal(checkout(CART, ADDRESS, [{ cents: 500 }]).total, 1990);
});

test("a price is formatted", () => {
  assert.match(formatPrice(1250), /^12[.]50? EUR$/);
});
