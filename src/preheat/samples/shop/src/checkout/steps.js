import { checkAddress } from "../address.js";
import { placeOrder } from "../orders.js";
import { totalOf } from "./totals.js";

export function checkout(cart, address, reductions) {
  checkAddress(address);
  return placeOrder(cart, totalOf(cart, reductions));
}
