import { shippingCost } from "../shipping.js";

export function totalOf(cart, reductions = []) {
  const sum = cart.items.reduce((cents, item) => cents + item.cents, 0);
  const inOrder = reductions.toSorted((a, b) => Boolean(a.percent) - Boolean(b.percent));
  return Math.max(0, inOrder.reduce(reduce, sum)) + shippingCost(sum);
}

function reduce(cents, reduction) {
  return reduction.percent ? Math.round(cents * (1 - reduction.percent / 100)) : cents - reduction.cents;
}
