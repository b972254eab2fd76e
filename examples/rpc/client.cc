// Buys at the shop: shop_client [NAME QUANTITY]...

#include <cstdlib>
#include <iostream>

#include "joedb/network/channel.h"
#include "shop/rpc/Client.h"

int main(int argc, char** argv) {
  try {
    joedb::Local_Channel channel("shop.sock");
    shop::rpc::Client client(channel);

    shop::rpc::order::Memory_Database order;
    for (int i = 1; i + 1 < argc; i += 2) order.new_item(argv[i], std::atoi(argv[i + 1]), 0);
    client.buy(order);
    for (const auto item : order.get_item_table())
      std::cout << order.get_left(item) << ' ' << order.get_name(item) << " left\n";

    shop::Memory_Database products;
    client.list(products);
    std::cout << "in stock:";
    for (const auto product : products.get_product_table())
      std::cout << ' ' << products.get_stock(product) << ' ' << products.get_name(product);
    std::cout << '\n';
  } catch (const joedb::rpc::Error& error) {
    std::cout << "the shop says: " << error.what() << '\n';
    return 1;
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
