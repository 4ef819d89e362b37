package com.stock;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.MetadataReportConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

import com.stock.api.Box;
import com.stock.api.StockService;

/** Offers StockService at a port until its standard input ends, and publishes its definition in a registry. */
public class Main implements StockService {
    public Box find(String code, int least) {
        Box box = new Box();
        box.code = code;
        box.left = least + 1;
        box.price = new BigDecimal("2.50");
        box.size = new Box.Size();
        box.size.width = 1.5;
        box.place = Box.Place.FLOOR;
        box.since = new Date(86400000);
        box.parts = List.of(new Box());
        box.picture = new byte[] {1, 2};
        return box;
    }

    public List<Box> search(Map<String, Integer> wanted) {
        List<Box> found = new ArrayList<>();
        wanted.forEach((code, least) -> found.add(find(code, least)));
        return found;
    }

    public Box.Place move(Box box, Box.Place to) { return box.place == to ? Box.Place.SHELF : to; }

    public Box.Size measure(Box.Size size) {
        size.width *= 2;
        return size;
    }

    public void clear() { throw new IllegalStateException("it is empty"); }

    public static void main(String[] arguments) throws Exception {
        ApplicationConfig application = new ApplicationConfig("stock");
        application.setQosEnable(false);
        ServiceConfig<StockService> service = new ServiceConfig<>();
        service.setInterface(StockService.class);
        service.setRef(new Main());
        service.setVersion("2.0.0");
        service.setGroup("eu");
        DubboBootstrap.getInstance().application(application).registry(new RegistryConfig(arguments[1])).metadataReport(new MetadataReportConfig(arguments[1]))
            .protocol(new ProtocolConfig("dubbo", Integer.parseInt(arguments[0]))).service(service).start();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        System.exit(0);
    }
}
